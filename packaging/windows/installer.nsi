; The installer for Windows: for one user, without administrator rights. build.py gives:
;   VERSION FOUR_NUMBERS PAYLOAD LISTS ICON OUT KILOBYTES
;
;   setup.exe /S             without questions; exit code 0 when done
;   setup.exe /S /D=C:\Path  to another folder (last on the line, without quotation marks)
;   uninstall.exe /S         without questions
;
; It writes: its folder; HKCU\Software\A3S Desktop; the entry of the list of installed programs; the type .a3s for this
; user; two links in the start menu. Settings, projects and demos are never touched, by the uninstaller neither.

Unicode true
ManifestDPIAware true
ManifestSupportedOS Win10
SetCompressor /SOLID lzma
SetDateSave off

!include "MUI2.nsh"
!include "x64.nsh"
!include "WinVer.nsh"

!define NAME "A3S Desktop"
!define PROGRAM "a3s-desktop.exe"
!define TYPE "A3SDesktop.Project"
!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\A3S Desktop"

Name "${NAME}"
OutFile "${OUT}"
RequestExecutionLevel user
InstallDir "$LOCALAPPDATA\Programs\A3S Desktop"
InstallDirRegKey HKCU "Software\A3S Desktop" "Folder"
BrandingText "${NAME} ${VERSION}"

VIProductVersion "${FOUR_NUMBERS}"
VIAddVersionKey "ProductName" "${NAME}"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "Installer of ${NAME}"
VIAddVersionKey "CompanyName" "A3S Desktop contributors"
VIAddVersionKey "LegalCopyright" "MIT licence"

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_ABORTWARNING
!define MUI_FINISHPAGE_RUN "$INSTDIR\${PROGRAM}"
!define MUI_FINISHPAGE_NOREBOOTSUPPORT
!insertmacro MUI_PAGE_WELCOME
!insertmacro MUI_PAGE_LICENSE "${PAYLOAD}\licences\NOTICE.txt"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "German"

Function .onInit
  ${IfNot} ${AtLeastWin10}
    MessageBox MB_OK|MB_ICONSTOP "${NAME} needs Windows 10 or newer." /SD IDOK
    SetErrorLevel 3
    Quit
  ${EndIf}
  ${IfNot} ${RunningX64}
    MessageBox MB_OK|MB_ICONSTOP "${NAME} needs a 64-bit Windows." /SD IDOK
    SetErrorLevel 3
    Quit
  ${EndIf}
FunctionEnd

; A program that runs cannot be replaced; its file cannot be opened for writing then.
!macro WAIT_FOR_PROGRAM UN
Function ${UN}WaitForProgram
  again:
  IfFileExists "$INSTDIR\${PROGRAM}" 0 free
  ClearErrors
  FileOpen $0 "$INSTDIR\${PROGRAM}" a
  IfErrors busy
  FileClose $0
  Goto free
  busy:
  MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION "${NAME} is running. Please close it, then try again." /SD IDCANCEL IDRETRY again
  SetErrorLevel 4
  Quit
  free:
FunctionEnd
!macroend
!insertmacro WAIT_FOR_PROGRAM ""
!insertmacro WAIT_FOR_PROGRAM "un."

Section "-Program"
  SetShellVarContext current
  Call WaitForProgram
  ; What an earlier version installed and this one does not goes first, by that version's own uninstaller.
  IfFileExists "$INSTDIR\uninstall.exe" 0 fresh
  ExecWait '"$INSTDIR\uninstall.exe" /S _?=$INSTDIR'
  fresh:
  SetOverwrite on
  !include "${LISTS}\install.nsh"
  SetOutPath "$INSTDIR"
  WriteUninstaller "$INSTDIR\uninstall.exe"

  CreateDirectory "$SMPROGRAMS\A3S Desktop"
  CreateShortCut "$SMPROGRAMS\A3S Desktop\A3S Desktop.lnk" "$INSTDIR\${PROGRAM}"
  CreateShortCut "$SMPROGRAMS\A3S Desktop\Guide.lnk" "$INSTDIR\doc\guide.html"

  WriteRegStr HKCU "Software\A3S Desktop" "Folder" "$INSTDIR"
  WriteRegStr HKCU "Software\A3S Desktop" "Version" "${VERSION}"
  WriteRegStr HKCU "Software\Classes\.a3s" "" "${TYPE}"
  WriteRegStr HKCU "Software\Classes\.a3s" "Content Type" "application/x-a3s-project"
  WriteRegStr HKCU "Software\Classes\${TYPE}" "" "A3S project"
  WriteRegStr HKCU "Software\Classes\${TYPE}\DefaultIcon" "" "$INSTDIR\${PROGRAM},0"
  WriteRegStr HKCU "Software\Classes\${TYPE}\shell\open\command" "" '"$INSTDIR\${PROGRAM}" open "%1"'
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'

  WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "${NAME}"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayIcon" "$INSTDIR\${PROGRAM}"
  WriteRegStr HKCU "${UNINSTALL}" "Publisher" "A3S Desktop contributors"
  WriteRegStr HKCU "${UNINSTALL}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL}" "EstimatedSize" ${KILOBYTES}
  WriteRegDWORD HKCU "${UNINSTALL}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL}" "NoRepair" 1
SectionEnd

Section "Uninstall"
  SetShellVarContext current
  Call un.WaitForProgram
  !include "${LISTS}\uninstall.nsh"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\A3S Desktop\A3S Desktop.lnk"
  Delete "$SMPROGRAMS\A3S Desktop\Guide.lnk"
  RMDir "$SMPROGRAMS\A3S Desktop"
  ReadRegStr $0 HKCU "Software\Classes\.a3s" ""
  StrCmp $0 "${TYPE}" 0 others
  DeleteRegKey HKCU "Software\Classes\.a3s"
  others:
  DeleteRegKey HKCU "Software\Classes\${TYPE}"
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'
  DeleteRegKey HKCU "${UNINSTALL}"
  DeleteRegKey HKCU "Software\A3S Desktop"
SectionEnd
