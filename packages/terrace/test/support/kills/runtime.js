// Which program runs JavaScript here: the one that is killed must be the one that is tested.

const { arch, platform, versions } = process

export const runtime = [platform, arch, versions.node, versions.bun, versions.deno].join(' ')
