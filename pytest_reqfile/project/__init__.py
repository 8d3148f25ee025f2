"""The ``.ai-rulez`` project that verifiers and the lock stand on (seed 000; seed 001; spec/airulez-project.md).

``places``        where a project is: from a folder upwards, in one folder, in a listing; layouts we do not read
``config``        config.toml as a checked value; ``tables`` reads its typed parts
``overlay``       the machine's ``config.local.toml`` merged into it, where asked for
``content``       rules, context, skills, agents, commands, checks, of the root and of each domain
``frontmatter``   the YAML block in front of an item
``imports``       what includes and installed skills bring, and what of it is not on this machine
``declarations``  verifier files: the project's own and imported ones
``rubrics``       folders that only the lock knows
``selection``     which items are active under a profile or role
``resources``     the files a skill or command carries
``manifest``      the outputs that were generated last
``load``          ``load_project``: all of it

Paths are *project paths*: ``/``-separated and relative to the folder that holds ``.ai-rulez``. A file of an
include or skill outside of that folder is shown as ``include:NAME/rules/x.md`` or ``skill:NAME/SKILL.md``.
"""
