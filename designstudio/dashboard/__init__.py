"""The studio in the browser: pages that show what the library computes, and start what takes longer in jobs."""
