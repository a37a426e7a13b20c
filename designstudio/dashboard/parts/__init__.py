"""Parts of pages: forms, tables, cards and buttons."""
