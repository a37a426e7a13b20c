"""Who may enter the studio."""

import socket

import pytest

from designstudio.dashboard import prewarm
from designstudio.dashboard.serve import make_server
from designstudio.errors import StudioError


def test_an_address_that_others_reach_needs_a_password():
    with pytest.raises(StudioError, match="give a password in DESIGNSTUDIO_PASSWORD"):
        make_server(0, address="0.0.0.0")  # noqa: S104


def test_a_port_that_is_taken_is_one_sentence():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(StudioError, match="choose another with --port"):
            make_server(taken.getsockname()[1])


def test_previews_of_one_to_four_levels_are_prewarmed(monkeypatch):
    previewed = []
    monkeypatch.setattr(prewarm, "PAUSE", 0.0)
    monkeypatch.setattr(prewarm, "preview_study", previewed.append)
    prewarm.prewarm_other_previews().join()
    shapes = {(len(study.designs[0].conditions), study.designs[0].num_trials) for study in previewed}
    assert shapes == {(num, size // num * num) for num in (1, 2, 3, 4) for size in (90, 200, 400)}
