"""Runs a program and lets the kernel do only a part of one of its writes.

    short_write.py DIRECTORY COUNT KEEP THEN NOTE PROGRAM ARGUMENT...

The write is the COUNT-th of the program into a file below DIRECTORY. KEEP says how much of it is
done: `one` byte, `half` or `most` of it, all but the last byte. THEN says what follows: `continue`
nothing, `full` all later writes below DIRECTORY fail with ENOSPC, `kill` the program is killed.
NOTE is a file that gets one word: `shortened`, `tiny` for a write of one byte, which cannot be
shortened, `none` if there are fewer writes. Threads are followed, other processes are not.

A tracer that only returns another number (`strace --inject=retval`) pretends; this one changes the
length that the kernel gets. Linux on x86-64.
"""

import ctypes
import errno
import os
import signal
import sys

TRACEME, SYSCALL, GETREGS, SETREGS, SETOPTIONS = 0, 24, 12, 13, 0x4200
SYSGOOD, CLONE, EXEC, EXITKILL = 0x1, 0x8, 0x10, 0x100000
EVENT_EXEC = 4
WRITES = {1, 18}  # write and pwrite64
RAX, RDX, RDI, ORIG_RAX = 10, 12, 14, 15
WALL = 0x40000000

ptrace = ctypes.CDLL(None, use_errno=True).ptrace
ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
ptrace.restype = ctypes.c_long


def registers(thread):
    values = (ctypes.c_ulonglong * 27)()
    if ptrace(GETREGS, thread, None, ctypes.addressof(values)) != 0:
        raise OSError(ctypes.get_errno(), "the registers cannot be read")
    return values


def set_registers(thread, values):
    ptrace(SETREGS, thread, None, ctypes.addressof(values))


def is_below(directory, thread, descriptor):
    try:
        path = os.readlink(f"/proc/{thread}/fd/{descriptor}")
    except OSError:
        return False
    return path.startswith(directory + "/")


def main():
    directory, count, keep, then, note = sys.argv[1:6]
    count, seen, outcome, disk_is_full = int(count), 0, "none", False
    child = os.fork()
    if child == 0:
        ptrace(TRACEME, 0, None, None)
        os.kill(os.getpid(), signal.SIGSTOP)
        os.execvp(sys.argv[6], sys.argv[6:])
    os.waitpid(child, WALL)
    ptrace(SETOPTIONS, child, None, SYSGOOD | CLONE | EXEC | EXITKILL)
    in_call, refused, kill_at_exit, code = set(), set(), None, 0
    thread, deliver = child, 0
    while True:
        ptrace(SYSCALL, thread, None, deliver)
        deliver = 0
        try:
            thread, status = os.waitpid(-1, WALL)
        except ChildProcessError:
            break
        if not os.WIFSTOPPED(status):
            if thread == child:
                ended = os.WIFSIGNALED(status)
                code = 128 + os.WTERMSIG(status) if ended else os.WEXITSTATUS(status)
            continue
        stop = os.WSTOPSIG(status)
        if status >> 16 == EVENT_EXEC:
            in_call.add(thread)
        elif stop == signal.SIGTRAP | 0x80 and thread in in_call:
            in_call.discard(thread)
            if thread in refused:
                refused.discard(thread)
                values = registers(thread)
                values[RAX] = -errno.ENOSPC & 0xFFFFFFFFFFFFFFFF
                set_registers(thread, values)
            if thread == kill_at_exit:
                os.kill(child, signal.SIGKILL)
        elif stop == signal.SIGTRAP | 0x80:
            in_call.add(thread)
            values = registers(thread)
            if values[ORIG_RAX] not in WRITES or not is_below(directory, thread, values[RDI]):
                continue
            if disk_is_full:
                values[ORIG_RAX] = 0xFFFFFFFFFFFFFFFF
                set_registers(thread, values)
                refused.add(thread)
                continue
            seen += 1
            if seen != count:
                continue
            length = values[RDX]
            outcome = "shortened" if length > 1 else "tiny"
            if length > 1:
                values[RDX] = {"one": 1, "half": length // 2, "most": length - 1}[keep]
                set_registers(thread, values)
                disk_is_full = then == "full"
                kill_at_exit = thread if then == "kill" else None
        elif stop not in (signal.SIGTRAP, signal.SIGSTOP):
            deliver = stop
    with open(note, "w") as file:
        file.write(outcome)
    sys.exit(code)


main()
