#!/bin/sh
# Installs Lacon {{version}} for this user: loads one archive, compares its checksum, and copies what is in it.
#
#   LACON_INSTALL_DIR  where to (default ~/.local: bin/lacon, share/man, completions)
#   LACON_BASE_URL     where from, with https:// or file://
#   LACON_TARGET       which archive, where the guess below is wrong
set -eu

version='{{version}}'
targets='{{targets}}'
base="${LACON_BASE_URL:-{{base}}}"
prefix="${LACON_INSTALL_DIR:-${HOME:-}/.local}"

fail() {
    printf 'lacon: %s\n' "$1" >&2
    exit 1
}

guess() {
    case $(uname -m) in
        x86_64 | amd64) processor=x86_64 ;;
        aarch64 | arm64) processor=aarch64 ;;
        *) processor=$(uname -m) ;;
    esac
    case $(uname -s) in
        # A process that is translated for Apple's processor says that it runs on Intel's.
        Darwin)
            [ "$(sysctl -n hw.optional.arm64 2>/dev/null || echo 0)" = 1 ] && processor=aarch64
            echo "$processor-apple-darwin"
            ;;
        Linux)
            # The static binary runs everywhere; the other one needs glibc.
            case " $targets " in
                *" $processor-unknown-linux-musl "*) echo "$processor-unknown-linux-musl" ;;
                *) echo "$processor-unknown-linux-gnu" ;;
            esac
            ;;
        *) echo "$processor-$(uname -s)" ;;
    esac
}

load() {
    case $1 in
        file://*) cp "${1#file://}" "$2" ;;
        *)
            if command -v curl >/dev/null 2>&1; then
                curl --proto '=https' --tlsv1.2 --fail --silent --show-error --location --output "$2" "$1"
            elif command -v wget >/dev/null 2>&1; then
                wget --quiet --output-document="$2" "$1"
            else
                fail 'neither curl nor wget is here: install one of them'
            fi
            ;;
    esac || fail "cannot load $1"
}

sum() {
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum "$1"
    elif command -v shasum >/dev/null 2>&1; then
        shasum -a 256 "$1"
    else
        fail 'neither sha256sum nor shasum is here, so what is loaded cannot be checked'
    fi
}

main() {
    [ -n "$base" ] || fail 'this script was built without an address: set LACON_BASE_URL'
    [ "$prefix" != /.local ] || fail 'there is no HOME: set LACON_INSTALL_DIR'
    target="${LACON_TARGET:-$(guess)}"
    case " $targets " in
        *" $target "*) ;;
        *) fail "there is no binary for $target. There are: $targets. Build it from source instead." ;;
    esac
    stem="lacon-$version-$target"
    temporary=$(mktemp -d)
    trap 'rm -rf "$temporary"' EXIT
    load "$base/$stem.tar.gz" "$temporary/$stem.tar.gz"
    load "$base/SHA256SUMS" "$temporary/SHA256SUMS"
    expected=$(grep -F "  $stem.tar.gz" "$temporary/SHA256SUMS" | cut -d' ' -f1)
    actual=$(sum "$temporary/$stem.tar.gz" | cut -d' ' -f1)
    [ -n "$expected" ] && [ "$expected" = "$actual" ] || fail "the checksum of $stem.tar.gz is wrong: nothing was installed"
    tar -xzf "$temporary/$stem.tar.gz" -C "$temporary"
    from="$temporary/$stem"
    mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" \
        "$prefix/share/zsh/site-functions" "$prefix/share/fish/vendor_completions.d" 2>/dev/null \
        || fail "$prefix cannot be written: set LACON_INSTALL_DIR"
    # Beside the old one and then in its place: one that is running stays whole.
    cp "$from/lacon" "$prefix/bin/.lacon.new"
    chmod 755 "$prefix/bin/.lacon.new"
    mv -f "$prefix/bin/.lacon.new" "$prefix/bin/lacon"
    cp "$from"/man/man1/*.1 "$prefix/share/man/man1/"
    cp "$from/completions/lacon.bash" "$prefix/share/bash-completion/completions/lacon"
    cp "$from/completions/_lacon" "$prefix/share/zsh/site-functions/_lacon"
    cp "$from/completions/lacon.fish" "$prefix/share/fish/vendor_completions.d/lacon.fish"
    echo "installed $("$prefix/bin/lacon" --version) in $prefix/bin"
    found=$(command -v lacon || true)
    case $found in
        "$prefix/bin/lacon") ;;
        '') echo "Put it on your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
        *) echo "Note: \`lacon\` starts $found. Remove that one, or put $prefix/bin first on your PATH." ;;
    esac
    echo 'Next, in a repository: lacon init'
}

main
