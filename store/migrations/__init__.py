"""The schema's history: numbered scripts that peewee's runner applies, each frozen once it is released."""
