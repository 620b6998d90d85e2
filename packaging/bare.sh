# Bare systems for checks, to be sourced. Needs root, for chroot.

# make_bare RELEASE FOLDER [PACKAGE,...]: a release of Debian with nothing but what it needs, and these packages.
make_bare() {
  command -v debootstrap >/dev/null || apt-get install -y --no-install-recommends debootstrap >/dev/null
  debootstrap --variant=minbase ${3:+"--include=$3"} "$1" "$2" >"$2.log" 2>&1 || { tail -n 20 "$2.log" >&2; return 1; }
  mkdir "$2/work"
}

# inside FOLDER COMMAND: in that system, in its folder /work. It has the folders of the kernel and, where SHARED names a
# folder, that one as /shared. They are gone after the command.
inside() {
  SHARED=${SHARED:-} unshare --mount bash -euo pipefail -c '
    mount -t proc proc "$0/proc"
    mount --rbind /dev "$0/dev"
    if [[ $SHARED ]]; then
      mkdir -p "$0/shared"
      mount --bind "$SHARED" "$0/shared"
    fi
    exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      bash -euo pipefail -c "cd /work; $1"' "$1" "$2"
}
