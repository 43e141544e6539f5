"""The actor runtime, the contract of ``relay_tool``, and the relay's domain."""

if __name__ != "showcaller.actors":
    raise ImportError("import showcaller.actors: the folder actors/ is a part of the package showcaller")
