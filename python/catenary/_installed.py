"""The requirements of tests."""


def installed(*requirements):
    """Are these requirements, such as 'numpy>=1.25', met? Needs packaging, which comes with pytest."""
    import importlib.metadata

    from packaging.requirements import Requirement
    for requirement in map(Requirement, requirements):
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            return False
        if not requirement.specifier.contains(version, prereleases=True):
            return False
    return True
