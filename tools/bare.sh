#!/bin/sh
# Runs a command in a bare Debian 12: a tree made for it, with a fresh clone of this project as it is committed, and
# nothing installed that `./x` does not install. The tree has processes and mounts of its own, and goes with them.
#
#   bare.sh COMMAND...           runs it in the clone, as root; ends as it ends, or with 1 when it left a process behind
#   bare.sh --ubuntu COMMAND...  the same in a bare Ubuntu 24.04
#   BARE_MIRROR=ADDRESS bare.sh ...  takes the packages from there: needed where this system is another one
#   BARE_FILES=FOLDER bare.sh ...    copies the folder into the tree, as /release
#   bare.sh --possible           says why not, when there can be no such tree here
set -eu

system=debian suite=bookworm name="Debian 12"
ubuntu() {
    system=ubuntu suite=noble name="Ubuntu 24.04"
}
top=$(cd "$(dirname "$0")/.." && pwd -P)

say() { printf '==> %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# Why there can be no tree here, or nothing.
hindrance() {
    if [ "$(id -u)" -ne 0 ]; then
        echo "only root can make one"
    elif ! have debootstrap; then
        echo "debootstrap is not installed"
    elif [ -z "$(mirror)" ]; then
        echo "no archive of $name is known here: set BARE_MIRROR to its address"
    elif ! unshare --mount --pid --fork --kill-child sh -c 'mount --make-rprivate / && mount -t proc proc /proc' 2>/dev/null; then
        echo "no mounts can be made"
    fi
}

# Whether this machine is such a system itself: then the tree uses the mirror that it uses.
is_same() {
    # shellcheck disable=SC1091
    (. /etc/os-release && [ "$ID" = $system ] && [ "${VERSION_CODENAME:-}" = $suite ])
}
mirror() {
    found=${BARE_MIRROR:-}
    if [ -z "$found" ] && is_same; then
        found=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null |
            sed -n "s/^URIs: *\\([^ ]*\\/$system\\)\\/* *\$/\\1/p; s/^deb \\(\\[[^]]*\\] \\)*\\([^ ]*\\/$system\\)\\/* .*/\\2/p" | head -n 1)
    fi
    echo "$found"
}

# The keys by which debootstrap knows Ubuntu: of this machine, or out of the package that Ubuntu has of them (Debian 12 has none).
keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg
keys() {
    [ $system = debian ] || [ -e $keyring ] && return
    file=$(curl -fsS "$(mirror)/dists/$suite/main/binary-$(dpkg --print-architecture)/Packages.gz" |
        gzip -dc | sed -n 's/^Filename: \(.*\/ubuntu-keyring_.*\)/\1/p' | head -n 1)
    curl -fsS -o "$tree.deb" "$(mirror)/$file"
    dpkg-deb --fsys-tarfile "$tree.deb" | tar -xO ".$keyring" >"$tree.gpg"
    rm "$tree.deb"
    keyring=$tree.gpg
}

# put FILE...: what lies here lies there too.
put() {
    for file; do
        [ -e "$file" ] || continue
        mkdir -p "$tree${file%/*}"
        cp -aL "$file" "$tree${file%/*}/"
    done
}

# What this machine's package clients are told, so that those in the tree reach the same registries.
tell_clients() {
    put /etc/hosts /etc/resolv.conf /etc/pip.conf /usr/local/share/ca-certificates
    if is_same; then
        put /etc/apt/apt.conf /etc/apt/apt.conf.d /etc/apt/auth.conf /etc/apt/auth.conf.d /etc/apt/preferences.d
        put /etc/apt/trusted.gpg /etc/apt/trusted.gpg.d /etc/apt/keyrings /usr/share/keyrings
        mkdir "$tree/var/tmp/apt"
        for list in /etc/apt/sources.list /etc/apt/sources.list.d; do
            [ ! -e "$list" ] || cp -aL "$list" "$tree/var/tmp/apt/"
        done
    fi
    # Whom this machine trusts, the tree will, once it has the package that reads these: one certificate in each.
    authorities=$tree/usr/local/share/ca-certificates
    mkdir -p "$authorities"
    [ ! -e /etc/ssl/certs/ca-certificates.crt ] || awk -v to="$authorities" '
        /BEGIN CERTIFICATE/ { file = to "/outside-" ++count ".crt" }
        file { print >file }
        /END CERTIFICATE/ { close(file); file = "" }' /etc/ssl/certs/ca-certificates.crt
    home=${HOME:-/root}
    for file in .pip/pip.conf .config/pip/pip.conf .cargo/config.toml; do
        [ ! -e "$home/$file" ] || {
            mkdir -p "$tree/root/${file%/*}"
            cp -L "$home/$file" "$tree/root/$file"
        }
    done
    # What cargo has fetched already need not come twice.
    registry=${CARGO_HOME:-$home/.cargo}/registry
    for part in index cache; do
        [ ! -d "$registry/$part" ] || {
            mkdir -p "$tree/root/.cargo/registry"
            cp -a "$registry/$part" "$tree/root/.cargo/registry/"
        }
    done
}

# The sources, last of all, and in the tree: a bare one names only the main archive.
tell_sources() {
    [ -d /var/tmp/apt ] || return 0
    rm -f /etc/apt/sources.list
    cp -a /var/tmp/apt/. /etc/apt/
    rm -r /var/tmp/apt
}

# What of this environment concerns registries; the rest stays out.
environment() {
    for name in http_proxy https_proxy no_proxy all_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY \
        CARGO_HTTP_PROXY CARGO_HTTP_TIMEOUT CARGO_NET_RETRY PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_DEFAULT_TIMEOUT \
        PIP_PROXY PARVUM_DEMAND CI CARGO_TERM_COLOR RUST_BACKTRACE; do
        eval "value=\${$name:-}"
        [ -z "$value" ] || printf '%s=%s\n' "$name" "$value"
    done
    echo PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
    echo HOME=/root
    echo LANG=C.UTF-8
    # The tree is built once and thrown away.
    echo CARGO_INCREMENTAL=0
    echo CARGO_PROFILE_DEV_DEBUG=line-tables-only
}

# --- Within, as the first process of the tree ------------------------------------------------------------------------

mounts() {
    mount --make-rprivate /
    # A mount of its own, as `/` is elsewhere.
    mount --bind "$tree" "$tree"
    mount -t proc proc "$tree/proc"
    mount --rbind /sys "$tree/sys"
    mount -t tmpfs -o mode=755 dev "$tree/dev"
    for device in null zero full random urandom tty; do
        touch "$tree/dev/$device"
        mount --bind /dev/$device "$tree/dev/$device"
    done
    # Emulated networks are joined by devices of their own.
    if [ -c /dev/net/tun ]; then
        mkdir "$tree/dev/net"
        touch "$tree/dev/net/tun"
        mount --bind /dev/net/tun "$tree/dev/net/tun"
    fi
    mkdir "$tree/dev/pts" "$tree/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$tree/dev/pts"
    ln -s pts/ptmx "$tree/dev/ptmx"
    ln -s /proc/self/fd "$tree/dev/fd"
    for stream in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${stream%:*}" "$tree/dev/${stream#*:}"; done
    mount -t tmpfs -o mode=1777 shm "$tree/dev/shm"
    mount -t tmpfs -o mode=755 run "$tree/run"
}

# The tree becomes the root of this mount namespace: who enters that, or makes a user namespace, is where `/` is, which a
# chroot would hide only from those who look.
move_in() {
    cd "$tree"
    mkdir -p old
    pivot_root . old
    cd /
    umount -l /old
    rmdir /old
    tree=
    export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
    hash -r
}

# Puts into `rest` the processes of the tree but this one, and none that has ended. No process is made to look.
left() {
    rest=
    for process in /proc/[0-9]*; do
        pid=${process#/proc/}
        [ "$pid" -ne 1 ] || continue
        state=
        while read -r word value _; do
            [ "$word" != State: ] || state=$value
        done 2>/dev/null <"$process/status" || :
        case $state in
        '' | Z | X) ;;
        *) rest="$rest $pid" ;;
        esac
    done
}

# An ordinary user of a bare tree, whose hint must name what helps.
ordinary() {
    said=$(inside setpriv --reuid=65534 --regid=65534 --clear-groups ./x build 2>&1) && {
        echo "bare: ./x build as an ordinary user finds Rust where there is none" >&2
        return 1
    }
    archive="debian-security $suite-security main"
    [ $system = debian ] || archive="$suite-updates main universe"
    case $said in
    *"$archive"*rustup.rs*) ;;
    *)
        printf 'bare: ./x as an ordinary user does not say how to get a recent Rust: %s\n' "$said" >&2
        return 1
        ;;
    esac
}

inside() {
    (
        # One setting on each line.
        IFS='
'
        # shellcheck disable=SC2046
        exec env -i $(environment) sh -c 'cd /parvum && exec "$@"' sh "$@"
    )
}

within() {
    mounts
    move_in
    status=0
    ordinary || status=1
    tell_sources
    inside "$@" || status=$?
    left
    if [ -n "$rest" ]; then
        echo "left behind in the tree:" >&2
        for pid in $rest; do
            tr '\0' ' ' <"/proc/$pid/cmdline" >&2 || true
            echo >&2
        done
        status=1
    fi
    exit $status
}

# --- Without ---------------------------------------------------------------------------------------------------------

[ "${1:-}" != --ubuntu ] || {
    ubuntu
    shift
}
case ${1:-} in
--possible)
    why=$(hindrance)
    [ -z "$why" ] || { echo "$why"; exit 1; }
    exit 0
    ;;
--within)
    tree=$2
    shift 2
    within "$@"
    ;;
'' | -*)
    echo "usage: tools/bare.sh [--ubuntu] COMMAND..." >&2
    exit 2
    ;;
esac

why=$(hindrance)
[ -z "$why" ] || { echo "bare: no $name here: $why" >&2; exit 1; }
tree=$(mktemp -d "${TMPDIR:-/var/tmp}/parvum-bare-XXXXXX")
# With its first process all others are gone, and with them its mounts.
# Not by SIGTERM, which unshare(1) keeps from itself while it waits.
first=
trap '[ -z "$first" ] || { kill -KILL "$first"; wait "$first"; } 2>/dev/null; rm -rf --one-file-system "$tree" "$tree.log" "$tree.gpg"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
chmod 755 "$tree"

say "making a bare $name in $tree"
keys
option= ubuntu= script=
[ $system = debian ] || option=--keyring=$keyring ubuntu=--ubuntu
# Ubuntu's releases are all made by one script, under names that an older debootstrap does not know.
[ $system = debian ] || script=/usr/share/debootstrap/scripts/gutsy
# shellcheck disable=SC2086 # an option or nothing
debootstrap --variant=minbase $option $suite "$tree" "$(mirror)" $script >"$tree.log" 2>&1 || {
    tail -n 20 "$tree.log" >&2
    exit 1
}
rm -f "$tree.log"
tell_clients
git clone --quiet --no-hardlinks "$top" "$tree/parvum"
[ -z "${BARE_FILES:-}" ] || cp -r "$BARE_FILES" "$tree/release"
say "in it: $*"
status=0
# In the background: a shell hears of signals only between its commands.
unshare --mount --pid --fork --kill-child sh "$top/tools/bare.sh" $ubuntu --within "$tree" "$@" &
first=$!
wait "$first" || status=$?
first=
exit $status
