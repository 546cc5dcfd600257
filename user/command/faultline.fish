# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# fish completion for faultline. The bash completion script computes the candidates.
function __faultline_complete
    set -l script BASH_COMPLETION
    set -q FAULTLINE_COMPLETION; and set script $FAULTLINE_COMPLETION
    bash $script --complete (commandline -opc) (commandline -ct) 2>/dev/null
end
complete -c faultline -a '(__faultline_complete)'
