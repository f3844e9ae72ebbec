# Completion of shoal for PowerShell. For every new shell, put into $PROFILE:
#   shoal completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName shoal -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $elements = @($commandAst.CommandElements | Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
    $words = @($elements | Select-Object -Skip 1)
    if ($wordToComplete -eq '') {
        $words += "''" # older versions pass no empty argument on
    }
    # Without any result, PowerShell completes names of files by itself.
    & $elements[0] __complete @words 2>$null | Where-Object { $_ -ne ':files' } | ForEach-Object {
        $value, $help = $_ -split "`t", 2
        if (-not $help) { $help = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $help)
    }
}
