#!/usr/bin/env bash
# run.sh FOLDER EXCHANGE SECONDS COMMAND: runs COMMAND, a line for a shell, in the virtual machine that make.sh made in FOLDER, for
# SECONDS at most. It sees this machine's files below a layer of its own, and EXCHANGE as /exchange, to write to. Ends with the
# command's status; 99 where the machine didn't get that far. VIVID and LOOPBACK are the modules' options: a comma separates them, a
# plus separates the values of one.
set -euo pipefail
folder=$(cd "${1:?folder}" && pwd)
exchange=$(cd "${2:?exchange}" && pwd)
seconds=${3:?seconds}
shift 3
printf 'export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root\n%s\n' "$*" > "$exchange/command.sh"
# What the kernel says of vivid's timers would stand in the middle of the programs' lines: emergencies alone are told.
append="console=ttyS0 loglevel=1 panic=-1 mitigations=off vivid=${VIVID:-n_devs=1} loopback=${LOOPBACK:-}"
timeout --kill-after=5 "$seconds" qemu-system-x86_64 -M q35 -accel tcg,thread=multi -cpu max -smp 2 -m 1024 \
  -nodefaults -no-user-config -display none -no-reboot -kernel "$folder/kernel" -initrd "$folder/initrd" -append "$append" \
  -serial stdio \
  -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap,id=host \
  -virtfs "local,path=$exchange,mount_tag=exchange,security_model=none,id=exchange" < /dev/null |
  tr -d '\r' | tee "$exchange/console.log" || true
status=$(sed -n 's/^guest: status \([0-9]*\)$/\1/p' "$exchange/console.log" | tail -1)
exit "${status:-99}"
