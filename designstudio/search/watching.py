"""Look at a search that others run: what its candidates have shown until now, read as cheaply as possible."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

import optuna
from optuna.storages import BaseStorage
from optuna.trial import TrialState
from sqlalchemy.exc import SQLAlchemyError

from designstudio.errors import StudioError
from designstudio.search.job import get_plan
from designstudio.search.records import CandidateRecord, read_record
from designstudio.search.run_folder import JOURNAL
from designstudio.search.search_job import SearchJob, load_search
from designstudio.search.search_result import SearchResult
from designstudio.search.storage import close_storage, hide_password, open_storage
from designstudio.study import Study

# Seconds between two looks into a database, which has no date of its last change.
PAUSE = 5.0
FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)


class SearchWatch:
    """The candidates of one search, in a journal or a database; nothing is ever written there."""

    def __init__(self, question: Study, place: str) -> None:
        """Name what is to be watched; nothing is opened before the first look.

        Args:
            question: the study that is searched.
            place: folder of the search, its journal, or the address of a database.

        Raises:
            StudioError: if the study has no search, or there is no such folder.
        """
        get_plan(question)
        self.question, self.place = question, place
        self._is_address = "://" in place
        self._path = Path(place)
        if not self._is_address:
            if not self._path.exists():
                raise StudioError(
                    f"There is no folder '{place}': give the folder of a search, or the address of its storage."
                )
            self._path = self._path / JOURNAL if self._path.is_dir() else self._path
        self._storage: BaseStorage | None = None
        self._job: SearchJob | None = None
        self._seen: tuple[float, ...] | None = None
        self._finished: dict[int, CandidateRecord] = {}

    def look(self, *, reads_again: bool = False, must_exist: bool = False) -> SearchResult | None:
        """What is known now; None if nothing has changed since the last look, or there is nothing yet.

        Args:
            reads_again: whether to look even if nothing has changed.
            must_exist: whether a place without this search is a mistake, rather than a search that has yet to begin.

        Raises:
            StudioError: if the storage cannot be read, or holds no such search although it must.
        """
        stamp = self._read_stamp()
        if stamp is not None and stamp == self._seen and not (reads_again or must_exist):
            return None
        try:
            job = self._find_job() if stamp is not None else None
            if job is None:
                if must_exist:
                    raise StudioError(self._explain_missing())
                return None
            records = self._read_records(job)
        except (SQLAlchemyError, optuna.exceptions.OptunaError, OSError, ValueError) as error:
            if isinstance(error, StudioError):
                raise
            place = hide_password(self.place) if self._is_address else self.place
            raise StudioError(
                f"The search in '{place}' cannot be read ({type(error).__name__}): is it still there?"
            ) from None
        self._seen = stamp
        return SearchResult(
            self.question,
            job.study.study_name,
            tuple(records),
            None,
            sum(record.seconds for record in records),
            {},
            screened=0,
            resolution=job.measure_resolution(),
        )

    def close(self) -> None:
        """Leave connections to a database."""
        if self._storage is not None:
            close_storage(self._storage)

    def _read_stamp(self) -> tuple[float, ...] | None:
        """What differs as soon as something was written; None if nothing was yet."""
        if self._is_address:
            return (time.monotonic() // PAUSE,)
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    def _find_job(self) -> SearchJob | None:
        if self._storage is None:
            self._storage = open_storage(self.place if self._is_address else str(self._path), only_reads=True)
        if self._job is None:
            self._job = load_search(self.question, self._storage)
        return self._job

    def _read_records(self, job: SearchJob) -> Sequence[CandidateRecord]:
        """Candidates that are finished never change again."""
        records = []
        for trial in job.list_trials():
            record = self._finished.get(trial.number) or read_record(trial)
            if trial.state in FINISHED:
                self._finished[trial.number] = record
            records.append(record)
        return records

    def _explain_missing(self) -> str:
        if self._is_address:
            return f"'{hide_password(self.place)}' holds no search for this study file: is it the one it was started with?"
        if not self._path.exists():
            return f"'{self.place}' holds no search: give the folder that --out named, or the address of its storage."
        return f"'{self.place}' holds no search for this study file: is it the one, with the seed, it was started with?"
