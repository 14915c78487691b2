# The program of the sandbox container: keeps a Pod's namespaces alive, reaps orphaned processes, exits on SIGTERM or SIGINT.
# It waits for blocked signals instead of handling them: the kernel drops unhandled signals of a namespace's process 1, but
# queues blocked ones. No stack, no data, no library. The ELF header is written out, so that no linker adds to it.
# build.sh converts this to the bytes in sandbox-program.ts.

        .text
        .globl  _start
image:
        .byte   0x7f, 'E', 'L', 'F', 2, 1, 1, 0        # 64 bits, little-endian
        .quad   0
        .short  2, 62                                  # ET_EXEC, EM_X86_64
        .long   1
        .quad   _start
        .quad   segment - image
        .quad   0
        .long   0
        .short  64, 56, 1, 0, 0, 0
segment:
        .long   1, 5                                   # PT_LOAD, readable and executable
        .quad   0, image, image, end - image, end - image, 0x10000

_start:
        xor     %edi, %edi                             # rt_sigprocmask(SIG_BLOCK, signals, NULL, 8)
        mov     $signals, %esi
        xor     %edx, %edx
        mov     $8, %r10d
        mov     $14, %eax
        syscall
wait:
        mov     $signals, %edi                         # rt_sigtimedwait(signals, NULL, NULL, 8)
        xor     %esi, %esi
        xor     %edx, %edx
        mov     $8, %r10d
        mov     $128, %eax
        syscall
        test    %eax, %eax
        js      wait                                   # interrupted
        cmp     $17, %eax                              # SIGCHLD
        jne     leave
reap:
        mov     $-1, %rdi                              # wait4(-1, NULL, WNOHANG, NULL)
        xor     %esi, %esi
        mov     $1, %edx
        xor     %r10d, %r10d
        mov     $61, %eax
        syscall
        test    %eax, %eax
        jg      reap
        jmp     wait
leave:
        xor     %edi, %edi                             # exit_group(0)
        mov     $231, %eax
        syscall

signals:
        .quad   1 << (2 - 1) | 1 << (15 - 1) | 1 << (17 - 1)   # SIGINT, SIGTERM, SIGCHLD
end:
