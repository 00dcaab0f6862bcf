#!/bin/sh
# Packs the program's folder as an AppImage: make_appimage.sh FOLDER ICONS OUT VERSION
# Needs appimagetool on the PATH, and its runtime (it fetches that itself, or takes it from APPIMAGE_RUNTIME).
set -eu
folder=$1 icons=$2 out=$3 version=$4
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/usr/lib" "$tree/usr/share/applications" "$tree/usr/share/metainfo"
cp -a "$folder" "$tree/usr/lib/a3s-desktop"
cp "$here/a3s-desktop.desktop" "$tree/a3s-desktop.desktop"
cp "$here/a3s-desktop.desktop" "$tree/usr/share/applications/"
sed "s/{version}/$version/" "$here/a3s-desktop.metainfo.xml" >"$tree/usr/share/metainfo/a3s-desktop.appdata.xml"
cp "$icons/256.png" "$tree/a3s-desktop.png"
cat >"$tree/AppRun" <<'RUN'
#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/usr/lib/a3s-desktop/a3s-desktop" "$@"
RUN
chmod 755 "$tree/AppRun"
set -- "$tree" "$out/a3s-desktop-$version-linux-$(uname -m).AppImage"
if [ -n "${APPIMAGE_RUNTIME:-}" ]; then
    set -- --runtime-file "$APPIMAGE_RUNTIME" "$@"
fi
ARCH=$(uname -m) appimagetool --no-appstream "$@"
