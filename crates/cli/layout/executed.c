/* Prints which functions a program executes, in the order of their first execution.
 *
 *     executed ADDRESSES BINARY ARGUMENT.. 3>OUTPUT
 *
 * ADDRESSES has the addresses of functions in the binary, in hexadecimal, one a line and ascending.
 * Each gets a breakpoint, which is removed when it is hit: the program runs nearly as fast as
 * without them. For Linux on x86-64.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned long *address;
static unsigned char *original;
static int count;

static int compare(const void *a, const void *b)
{
    unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;
    return (x > y) - (x < y);
}

static void read_addresses(const char *file)
{
    FILE *f = fopen(file, "r");
    unsigned long a;
    int room = 0;
    while (f && fscanf(f, "%lx", &a) == 1) {
        if (count == room)
            address = realloc(address, (room = room * 2 + 1024) * sizeof *address);
        address[count++] = a;
    }
    original = malloc(count);
}

/* Returns where the first mapping of the process begins, which is that of its binary. */
static unsigned long base_of(pid_t process)
{
    char name[64];
    unsigned long base = 0;
    snprintf(name, sizeof name, "/proc/%d/maps", process);
    FILE *f = fopen(name, "r");
    if (!f || fscanf(f, "%lx", &base) != 1)
        exit(2);
    fclose(f);
    return base;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    read_addresses(argv[1]);
    pid_t process = fork();
    if (process == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(argv[2], argv + 2);
        _exit(127);
    }
    int status;
    waitpid(process, &status, 0);
    ptrace(PTRACE_SETOPTIONS, process, 0, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
    unsigned long base = base_of(process);
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/mem", process);
    int memory = open(name, O_RDWR);
    const unsigned char breakpoint = 0xCC;
    for (int i = 0; i < count; i++) {
        pread(memory, original + i, 1, base + address[i]);
        pwrite(memory, &breakpoint, 1, base + address[i]);
    }
    ptrace(PTRACE_CONT, process, 0, 0);
    for (;;) {
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0)
            return 2;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread == process)
                return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
            continue;
        }
        int signal = WSTOPSIG(status), event = status >> 16;
        if (signal == SIGTRAP && event == 0) {
            struct user_regs_struct registers;
            ptrace(PTRACE_GETREGS, thread, 0, &registers);
            unsigned long at = registers.rip - 1 - base;
            unsigned long *found = bsearch(&at, address, count, sizeof at, compare);
            if (found) {
                /* Other threads may have hit it, too. */
                pwrite(memory, original + (found - address), 1, base + at);
                registers.rip--;
                ptrace(PTRACE_SETREGS, thread, 0, &registers);
                dprintf(3, "%lx\n", at);
            }
            signal = 0;
        } else if (signal == SIGSTOP || event) {
            signal = 0;
        }
        ptrace(PTRACE_CONT, thread, 0, signal);
    }
}
