"""What a study file may say, described once: from it follow reading, writing, the JSON Schema and the reference page."""
