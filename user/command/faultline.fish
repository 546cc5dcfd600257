# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Completion of faultline for fish: asks that for bash, which is installed beside it.
function __faultline_complete
    set -l script BASH_COMPLETION
    set -q FAULTLINE_COMPLETION; and set script $FAULTLINE_COMPLETION
    bash $script --complete (commandline -opc) (commandline -ct) 2>/dev/null
end
complete -c faultline -a '(__faultline_complete)'
