/* Faults of a drive, put in between a program and the C library; built and loaded by shim.py (LD_PRELOAD, Linux).
 *
 * Calls that concern paths below the watched folder, or files opened there, are counted by kind. One call, chosen by
 * its number, then fails as told; with `lasting`, all later ones of these kinds do, until the fault is taken away.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CREATE = 1, OPEN = 2, WRITE = 4, SYNC = 8, RENAME = 16, REMOVE = 32, FOLDER = 64, SIZE = 128, READ = 256 };
enum { FAIL = 0, HALF = 1, LOSE = 2, KILL = 3 };
#define FDS 65536
#define NOTES 8192
#define REAL(name) ((__typeof__(&name))real(#name))

static char root[PATH_MAX];
static size_t root_length;
static unsigned char watched[FDS];
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static long target = -1, seen, fired;
static int kinds, code, action, lasting, recording;
static unsigned short tape[1 << 16]; /* kinds of the calls of a run */
static long taped;

struct note { dev_t device; ino_t inode; off_t at; size_t length; off_t size; char *old; };
static struct note notes[NOTES];
static int noted;

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

static int below(const char *path)
{
    return root_length && path && !strncmp(path, root, root_length) &&
           (path[root_length] == '/' || path[root_length] == 0);
}
static int inside(int folder, const char *path)
{
    if (path && path[0] == '/')
        return below(path);
    return folder >= 0 && folder < FDS && watched[folder];
}
static int ours(int fd) { return root_length && fd >= 0 && fd < FDS && watched[fd]; }

/* Whether this call fails now. */
static int hit(int kind)
{
    int result = 0;
    pthread_mutex_lock(&guard);
    if (recording && taped < (long)(sizeof tape / sizeof *tape))
        tape[taped++] = (unsigned short)kind;
    if (target >= 0 && (kinds & kind)) {
        result = seen == target || (lasting && seen > target);
        seen++;
        if (result)
            fired++;
    }
    pthread_mutex_unlock(&guard);
    if (result && action == KILL)
        kill(getpid(), SIGKILL);
    if (result)
        errno = code;
    return result;
}

/* What a write replaces is kept until the file is synchronised, so that a failed synchronisation can lose it. */
static void keep(int fd, off_t at, size_t length)
{
    struct stat facts;
    char path[64];
    if (target < 0 || action != LOSE || noted >= NOTES || fstat(fd, &facts) || !S_ISREG(facts.st_mode))
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int other = REAL(open)(path, O_RDONLY | O_CLOEXEC);
    struct note *note = &notes[noted++];
    *note = (struct note){facts.st_dev, facts.st_ino, at, 0, facts.st_size, malloc(length + 1)};
    if (other >= 0) {
        ssize_t got = REAL(pread64)(other, note->old, length, at);
        note->length = got > 0 ? (size_t)got : 0;
        REAL(close)(other);
    }
}
static void settle(int fd, int lose)
{
    struct stat facts;
    char path[64];
    int left = 0, other = -1;
    if (!noted || fstat(fd, &facts))
        return;
    if (lose) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        other = REAL(open)(path, O_RDWR | O_CLOEXEC);
    }
    for (int i = noted - 1; i >= 0; i--) {
        struct note *note = &notes[i];
        if (note->device != facts.st_dev || note->inode != facts.st_ino)
            continue;
        if (other >= 0) {
            if (note->length && REAL(pwrite64)(other, note->old, note->length, note->at) < 0)
                abort();
            if (REAL(ftruncate64)(other, note->size))
                abort();
        }
        free(note->old);
        note->old = NULL;
    }
    for (int i = 0; i < noted; i++)
        if (notes[i].old)
            notes[left++] = notes[i];
    noted = left;
    if (other >= 0)
        REAL(close)(other);
}

/* ------------------------------------------------------------------------------------------- for the tests */

void a3s_watch(const char *folder)
{
    root_length = strlen(folder) < PATH_MAX ? strlen(folder) : 0;
    memcpy(root, folder, root_length);
    root[root_length] = 0;
}
void a3s_record(int on)
{
    recording = on;
    if (on)
        taped = 0;
}
long a3s_taped(void) { return taped; }
int a3s_tape(long at) { return tape[at]; }
void a3s_arm(long number, int of, int error, int what, int stays)
{
    pthread_mutex_lock(&guard);
    target = number, kinds = of, code = error, action = what, lasting = stays, seen = 0, fired = 0, noted = 0;
    pthread_mutex_unlock(&guard);
}
long a3s_disarm(void)
{
    target = -1;
    return fired;
}

/* ------------------------------------------------------------------------------------------- the calls */

static int opened(int fd)
{
    if (fd >= 0 && fd < FDS)
        watched[fd] = 1;
    return fd;
}
static int open_kind(int folder, const char *path, int flags)
{
    if ((flags & O_ACCMODE) == O_RDONLY && !(flags & O_CREAT))
        return READ;
    return (flags & O_CREAT) && faccessat(folder, path, F_OK, 0) ? CREATE : OPEN;
}
#define MODE(flags)                                                                                                    \
    mode_t mode = 0;                                                                                                   \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                                             \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        mode = va_arg(more, mode_t);                                                                                   \
        va_end(more);                                                                                                  \
    }
#define OPENER(name)                                                                                                   \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        MODE(flags)                                                                                                    \
        if (!inside(-1, path))                                                                                         \
            return REAL(name)(path, flags, mode);                                                                      \
        return hit(open_kind(AT_FDCWD, path, flags)) ? -1 : opened(REAL(name)(path, flags, mode));                     \
    }
#define OPENER_AT(name)                                                                                                \
    int name(int folder, const char *path, int flags, ...)                                                             \
    {                                                                                                                  \
        MODE(flags)                                                                                                    \
        if (!inside(folder, path))                                                                                     \
            return REAL(name)(folder, path, flags, mode);                                                              \
        return hit(open_kind(folder, path, flags)) ? -1 : opened(REAL(name)(folder, path, flags, mode));               \
    }
OPENER(open)
OPENER(open64)
OPENER_AT(openat)
OPENER_AT(openat64)

int close(int fd)
{
    if (fd >= 0 && fd < FDS)
        watched[fd] = 0;
    return REAL(close)(fd);
}
ssize_t write(int fd, const void *data, size_t length)
{
    if (ours(fd)) {
        if (hit(WRITE)) {
            if (action != HALF || length < 2 || fired > 1)
                return -1;
            length /= 2;
        }
        keep(fd, lseek(fd, 0, SEEK_CUR), length);
    }
    return REAL(write)(fd, data, length);
}
#define WRITER(name, offset)                                                                                           \
    ssize_t name(int fd, const void *data, size_t length, offset at)                                                   \
    {                                                                                                                  \
        if (ours(fd)) {                                                                                                \
            if (hit(WRITE)) {                                                                                          \
                if (action != HALF || length < 2 || fired > 1)                                                         \
                    return -1;                                                                                         \
                length /= 2;                                                                                           \
            }                                                                                                          \
            keep(fd, at, length);                                                                                      \
        }                                                                                                              \
        return REAL(name)(fd, data, length, at);                                                                       \
    }
WRITER(pwrite, off_t)
WRITER(pwrite64, off64_t)

#define SYNCER(name)                                                                                                   \
    int name(int fd)                                                                                                   \
    {                                                                                                                  \
        if (!ours(fd))                                                                                                 \
            return REAL(name)(fd);                                                                                     \
        if (hit(SYNC)) {                                                                                               \
            int error = errno;                                                                                         \
            settle(fd, 1);                                                                                             \
            errno = error;                                                                                             \
            return -1;                                                                                                 \
        }                                                                                                              \
        settle(fd, 0);                                                                                                 \
        return REAL(name)(fd);                                                                                         \
    }
SYNCER(fsync)
SYNCER(fdatasync)

#define SIZER(name, offset)                                                                                            \
    int name(int fd, offset size)                                                                                      \
    {                                                                                                                  \
        return ours(fd) && hit(SIZE) ? -1 : REAL(name)(fd, size);                                                      \
    }
SIZER(ftruncate, off_t)
SIZER(ftruncate64, off64_t)

int rename(const char *from, const char *to)
{
    return (below(from) || below(to)) && hit(RENAME) ? -1 : REAL(rename)(from, to);
}
int renameat(int a, const char *from, int b, const char *to)
{
    return (inside(a, from) || inside(b, to)) && hit(RENAME) ? -1 : REAL(renameat)(a, from, b, to);
}
int link(const char *from, const char *to) { return below(to) && hit(RENAME) ? -1 : REAL(link)(from, to); }
int linkat(int a, const char *from, int b, const char *to, int flags)
{
    return inside(b, to) && hit(RENAME) ? -1 : REAL(linkat)(a, from, b, to, flags);
}
int symlink(const char *from, const char *to) { return below(to) && hit(CREATE) ? -1 : REAL(symlink)(from, to); }
int unlink(const char *path) { return below(path) && hit(REMOVE) ? -1 : REAL(unlink)(path); }
int unlinkat(int folder, const char *path, int flags)
{
    return inside(folder, path) && hit(REMOVE) ? -1 : REAL(unlinkat)(folder, path, flags);
}
int rmdir(const char *path) { return below(path) && hit(REMOVE) ? -1 : REAL(rmdir)(path); }
int mkdir(const char *path, mode_t mode) { return below(path) && hit(FOLDER) ? -1 : REAL(mkdir)(path, mode); }
int mkdirat(int folder, const char *path, mode_t mode)
{
    return inside(folder, path) && hit(FOLDER) ? -1 : REAL(mkdirat)(folder, path, mode);
}
ssize_t read(int fd, void *data, size_t length) { return ours(fd) && hit(READ) ? -1 : REAL(read)(fd, data, length); }
#define READER(name, offset)                                                                                           \
    ssize_t name(int fd, void *data, size_t length, offset at)                                                         \
    {                                                                                                                  \
        return ours(fd) && hit(READ) ? -1 : REAL(name)(fd, data, length, at);                                          \
    }
READER(pread, off_t)
READER(pread64, off64_t)
