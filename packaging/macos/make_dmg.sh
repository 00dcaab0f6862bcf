#!/bin/sh
# Signs, notarises and packs "A3S Desktop.app": make_dmg.sh FOLDER_OF_THE_APP OUT VERSION ARCHITECTURE
# Without identities the program is signed for this machine only ("ad hoc"), and others must allow it by hand:
#   A3S_MAC_IDENTITY   name of a certificate "Developer ID Application: ..." in the keychain
#   A3S_NOTARY_PROFILE profile that was stored with: xcrun notarytool store-credentials NAME
set -eu
made=$1 out=$2 version=$3 architecture=$4
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
app="$made/A3S Desktop.app"
dmg="$out/a3s-desktop-$version-macos-$architecture.dmg"
identity=${A3S_MAC_IDENTITY:--}

if [ "$identity" = "-" ]; then stamp=--timestamp=none; else stamp=--timestamp; fi
sign() {
    codesign --force "$stamp" --options runtime --entitlements "$here/entitlements.plist" --sign "$identity" "$@"
}
# From the inside out: every library first, the program last.
find "$app/Contents" -type f \( -name '*.dylib' -o -name '*.so' -o -perm -u+x \) | while IFS= read -r file; do
    sign "$file"
done
sign "$app"
codesign --verify --deep --strict "$app"

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cp -R "$app" "$tree/"
ln -s /Applications "$tree/Applications"
rm -f "$dmg"
hdiutil create -volname "A3S Desktop $version" -srcfolder "$tree" -fs HFS+ -format UDZO -imagekey zlib-level=9 "$dmg"
if [ "$identity" != "-" ]; then
    codesign --force --timestamp --sign "$identity" "$dmg"
fi
if [ -n "${A3S_NOTARY_PROFILE:-}" ]; then
    xcrun notarytool submit "$dmg" --keychain-profile "$A3S_NOTARY_PROFILE" --wait
    xcrun stapler staple "$dmg"
else
    echo "Not notarised: A3S_NOTARY_PROFILE is not set." >&2
fi
