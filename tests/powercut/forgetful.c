/* A file system that forgets: forgetful MOUNTPOINT LIVE SHADOW
 *
 * Everything goes to LIVE, as the running programs see it. SHADOW has, for every file, what would be on the disk after
 * a power cut: NAME.disk, its content at its last sync, and NAME.log, the writes since. A sync brings the log over to
 * the disk. powercut.py makes the disk after the cut from these: of the writes in a log any may have reached it, sector
 * by sector. Names (made, renamed, removed) are kept at once: a journalling file system orders them, and this one is
 * for the contents.
 */
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { PATH = 4096 };
static char *live, *shadow;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *at(char out[PATH], const char *path) {
  snprintf(out, PATH, "%s%s", live, path);
  return out;
}

/* A flat name: / is written %. */
static const char *shadow_of(char out[PATH], const char *path, const char *ending) {
  const int size = snprintf(out, PATH, "%s/", shadow);
  snprintf(out + size, (size_t)(PATH - size), "%s%s", path + 1, ending);
  for (char *c = out + size; *c; c++) {
    *c = *c == '/' ? '%' : *c;
  }
  return out;
}

static int answer(int result) {
  return result < 0 ? -errno : 0;
}

/* One entry of the log: where, how much (-1: the file ends here now), then the bytes. */
static void note(const char *path, int64_t offset, int64_t size, const char *bytes) {
  char name[PATH];
  pthread_mutex_lock(&lock);
  FILE *log = fopen(shadow_of(name, path, ".log"), "ab");
  if (log) {
    fwrite(&offset, sizeof offset, 1, log);
    fwrite(&size, sizeof size, 1, log);
    if (size > 0) {
      fwrite(bytes, 1, (size_t)size, log);
    }
    fclose(log);
  }
  pthread_mutex_unlock(&lock);
}

static void bring_over(FILE *log, int disk) {
  int64_t entry[2];
  char *bytes = NULL;
  while (fread(entry, sizeof entry, 1, log) == 1) {
    if (entry[1] < 0) {
      if (ftruncate(disk, entry[0]) != 0) {
        break;
      }
      continue;
    }
    char *grown = realloc(bytes, (size_t)entry[1] + 1);
    if (!grown) {
      break;
    }
    bytes = grown;
    if (fread(bytes, 1, (size_t)entry[1], log) != (size_t)entry[1] ||
        pwrite(disk, bytes, (size_t)entry[1], entry[0]) != entry[1]) {
      break;
    }
  }
  free(bytes);
}

static int forget_fsync(const char *path, int data_only, struct fuse_file_info *info) {
  (void)data_only;
  (void)info;
  char name[PATH];
  pthread_mutex_lock(&lock);
  FILE *log = fopen(shadow_of(name, path, ".log"), "rb");
  const int disk = open(shadow_of(name, path, ".disk"), O_WRONLY | O_CREAT, 0600);
  if (log && disk >= 0) {
    bring_over(log, disk);
    unlink(shadow_of(name, path, ".log"));
  }
  if (log) {
    fclose(log);
  }
  if (disk >= 0) {
    close(disk);
  }
  pthread_mutex_unlock(&lock);
  return 0;
}

static int forget_write(const char *path, const char *bytes, size_t size, off_t offset, struct fuse_file_info *info) {
  const ssize_t written = pwrite((int)info->fh, bytes, size, offset);
  if (written > 0) {
    note(path, offset, written, bytes);
  }
  return written < 0 ? -errno : (int)written;
}

static int forget_truncate(const char *path, off_t size, struct fuse_file_info *info) {
  char name[PATH];
  const int result = info ? ftruncate((int)info->fh, size) : truncate(at(name, path), size);
  if (result == 0) {
    note(path, size, -1, NULL);
  }
  return answer(result);
}

static int forget_fallocate(const char *path, int mode, off_t offset, off_t size, struct fuse_file_info *info) {
  (void)path;
  return mode ? -EOPNOTSUPP : -posix_fallocate((int)info->fh, offset, size);
}

static int forget_read(const char *path, char *bytes, size_t size, off_t offset, struct fuse_file_info *info) {
  (void)path;
  const ssize_t got = pread((int)info->fh, bytes, size, offset);
  return got < 0 ? -errno : (int)got;
}

static int open_file(const char *path, int flags, mode_t mode, struct fuse_file_info *info) {
  char name[PATH];
  const int file = open(at(name, path), flags & ~O_APPEND, mode);
  info->fh = (uint64_t)file;
  if (file >= 0 && (flags & O_TRUNC)) {
    note(path, 0, -1, NULL);
  }
  return file < 0 ? -errno : 0;
}

static int forget_open(const char *path, struct fuse_file_info *info) {
  /* Whoever opens it to write may also be asked to read a page that is written in part. */
  const int flags = (info->flags & O_ACCMODE) == O_WRONLY ? (info->flags & ~O_ACCMODE) | O_RDWR : info->flags;
  return open_file(path, flags, 0, info);
}

static int forget_create(const char *path, mode_t mode, struct fuse_file_info *info) {
  char name[PATH];
  const int fault = open_file(path, ((info->flags & ~O_ACCMODE) | O_RDWR | O_CREAT), mode, info);
  if (!fault) {
    const int disk = open(shadow_of(name, path, ".disk"), O_WRONLY | O_CREAT, 0600);
    if (disk >= 0) {
      close(disk);
    }
  }
  return fault;
}

static int forget_release(const char *path, struct fuse_file_info *info) {
  (void)path;
  return answer(close((int)info->fh));
}

static int forget_getattr(const char *path, struct stat *out, struct fuse_file_info *info) {
  char name[PATH];
  return answer(info ? fstat((int)info->fh, out) : lstat(at(name, path), out));
}

static int forget_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
                          struct fuse_file_info *info, enum fuse_readdir_flags flags) {
  (void)offset;
  (void)info;
  (void)flags;
  char name[PATH];
  DIR *folder = opendir(at(name, path));
  if (!folder) {
    return -errno;
  }
  for (struct dirent *each = readdir(folder); each; each = readdir(folder)) {
    fill(buffer, each->d_name, NULL, 0, 0);
  }
  closedir(folder);
  return 0;
}

static int forget_unlink(const char *path) {
  char name[PATH];
  unlink(shadow_of(name, path, ".disk"));
  unlink(shadow_of(name, path, ".log"));
  return answer(unlink(at(name, path)));
}

static int forget_rename(const char *from, const char *to, unsigned flags) {
  char a[PATH], b[PATH];
  if (flags) {
    return -EINVAL;
  }
  unlink(shadow_of(b, to, ".log"));
  rename(shadow_of(a, from, ".disk"), shadow_of(b, to, ".disk"));
  rename(shadow_of(a, from, ".log"), shadow_of(b, to, ".log"));
  return answer(rename(at(a, from), at(b, to)));
}

static int forget_mkdir(const char *path, mode_t mode) {
  char name[PATH];
  return answer(mkdir(at(name, path), mode));
}

static int forget_rmdir(const char *path) {
  char name[PATH];
  return answer(rmdir(at(name, path)));
}

static int forget_chmod(const char *path, mode_t mode, struct fuse_file_info *info) {
  (void)info;
  char name[PATH];
  return answer(chmod(at(name, path), mode));
}

static int forget_chown(const char *path, uid_t user, gid_t group, struct fuse_file_info *info) {
  (void)info;
  char name[PATH];
  return answer(lchown(at(name, path), user, group));
}

static int forget_utimens(const char *path, const struct timespec times[2], struct fuse_file_info *info) {
  (void)info;
  char name[PATH];
  return answer(utimensat(AT_FDCWD, at(name, path), times, 0));
}

static int forget_statfs(const char *path, struct statvfs *out) {
  char name[PATH];
  return answer(statvfs(at(name, path), out));
}

static int forget_fsyncdir(const char *path, int data_only, struct fuse_file_info *info) {
  (void)path;
  (void)data_only;
  (void)info;
  return 0;
}

static const struct fuse_operations operations = {.getattr = forget_getattr,
                                                  .readdir = forget_readdir,
                                                  .open = forget_open,
                                                  .create = forget_create,
                                                  .read = forget_read,
                                                  .write = forget_write,
                                                  .truncate = forget_truncate,
                                                  .fallocate = forget_fallocate,
                                                  .fsync = forget_fsync,
                                                  .fsyncdir = forget_fsyncdir,
                                                  .release = forget_release,
                                                  .unlink = forget_unlink,
                                                  .rename = forget_rename,
                                                  .mkdir = forget_mkdir,
                                                  .rmdir = forget_rmdir,
                                                  .chmod = forget_chmod,
                                                  .chown = forget_chown,
                                                  .utimens = forget_utimens,
                                                  .statfs = forget_statfs};

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: forgetful MOUNTPOINT LIVE SHADOW\n");
    return 2;
  }
  live = argv[2];
  shadow = argv[3];
  char *arguments[] = {argv[0], argv[1], "-f", "-o", "default_permissions"};
  return fuse_main(5, arguments, &operations, NULL);
}
