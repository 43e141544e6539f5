"""The contract of ``relay_tool`` and of the worker protocol: models, limits, codes; nothing here acts."""
