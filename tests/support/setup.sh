#!/bin/sh
# Installs the system packages that luxgrid needs at run time, where that is possible; else says which.
#   setup.sh run    to open a window
#   setup.sh test   to run the tests: the same, a software Vulkan driver, a virtual display
set -u

case "${1:-run}" in
    test) wanted="mesa-vulkan-drivers libxcursor1 libxi6 libxkbcommon-x11-0 xvfb" ;;
    *) wanted="mesa-vulkan-drivers libxcursor1 libxi6 libxkbcommon-x11-0" ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "setup: not Debian or Ubuntu; luxgrid needs a Vulkan or OpenGL driver and libxcursor, libxi, libxkbcommon-x11" >&2
    exit 0
fi

missing=""
for package in $wanted; do
    state=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null)
    case "$state" in
        *"ok installed") ;;
        *) missing="$missing $package" ;;
    esac
done
[ -z "$missing" ] && exit 0

as_root=""
if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        as_root="sudo"
    else
        echo "setup: please install:  sudo apt-get install$missing" >&2
        exit 0
    fi
fi
echo "setup: installing$missing" >&2
export DEBIAN_FRONTEND=noninteractive
# Word splitting of $missing is wanted: it is a list.
if ! { $as_root apt-get update -qq && $as_root apt-get install -y -qq --no-install-recommends $missing; } >/dev/null; then
    echo "setup: could not install; please run:  sudo apt-get install$missing" >&2
fi
exit 0
