# Installs Lacon {{version}} for this user: loads one archive, compares its checksum, and copies what is in it.
#
#   $env:LACON_INSTALL_DIR  where to (default %LOCALAPPDATA%\Programs\lacon)
#   $env:LACON_BASE_URL     where from
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

$version = '{{version}}'
$targets = '{{targets}}' -split ' '
$base = if ($env:LACON_BASE_URL) { $env:LACON_BASE_URL } else { '{{base}}' }
$folder = if ($env:LACON_INSTALL_DIR) { $env:LACON_INSTALL_DIR } else { Join-Path $env:LOCALAPPDATA 'Programs\lacon' }

if (-not $base) { throw 'lacon: this script was built without an address: set LACON_BASE_URL' }
# Windows on ARM runs programs for x86-64.
$target = $targets | Where-Object { $_ -like 'x86_64-pc-windows-*' } | Select-Object -First 1
if (-not $target) { throw "lacon: there is no binary for Windows. There are: $targets" }

$stem = "lacon-$version-$target"
$temporary = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
New-Item -ItemType Directory -Path $temporary | Out-Null
try {
    $archive = Join-Path $temporary "$stem.zip"
    Invoke-WebRequest -UseBasicParsing -Uri "$base/$stem.zip" -OutFile $archive
    $sums = Join-Path $temporary 'SHA256SUMS'
    Invoke-WebRequest -UseBasicParsing -Uri "$base/SHA256SUMS" -OutFile $sums
    $line = Get-Content $sums | Where-Object { $_.EndsWith("  $stem.zip") } | Select-Object -First 1
    $actual = (Get-FileHash -Algorithm SHA256 $archive).Hash.ToLowerInvariant()
    if (-not $line -or ($line -split ' ')[0] -ne $actual) {
        throw "lacon: the checksum of $stem.zip is wrong: nothing was installed"
    }
    Expand-Archive -Path $archive -DestinationPath $temporary
    New-Item -ItemType Directory -Force -Path $folder | Out-Null
    $program = Join-Path $folder 'lacon.exe'
    # A program that runs can be renamed, and not replaced.
    if (Test-Path $program) {
        $old = Join-Path $folder 'lacon.old.exe'
        Remove-Item -Force -ErrorAction SilentlyContinue $old
        Move-Item -Force $program $old
    }
    Copy-Item (Join-Path $temporary "$stem\lacon.exe") $program
    Copy-Item (Join-Path $temporary "$stem\completions\_lacon.ps1") $folder
} finally {
    Remove-Item -Recurse -Force $temporary
}

$path = [Environment]::GetEnvironmentVariable('Path', 'User')
if (($path -split ';') -notcontains $folder) {
    [Environment]::SetEnvironmentVariable('Path', "$folder;$path", 'User')
    Write-Output "$folder was put on your PATH: open a new terminal."
}
Write-Output "installed $(& $program --version) in $folder"
Write-Output 'Next, in a repository: lacon init'
