/* SPDX-License-Identifier: MIT */
/*
 * init - the first program of the virtual machine: loads the modules beside it, makes the
 * machine's own files the root, under an overlay that forgets, and becomes what the
 * kernel's command line names as GUEST.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Rounds over the modules: each loads those whose needs are met. */
#define ROUNDS 6

static void must(int result, const char *what)
{
    if (result == 0)
        return;
    perror(what);
    exit(1);
}

static void load_modules(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        DIR *list = opendir("/modules");
        const struct dirent *entry;

        while (list != NULL && (entry = readdir(list)) != NULL) {
            char path[300];
            int fd;

            (void)snprintf(path, sizeof path, "/modules/%s", entry->d_name);
            fd = open(path, O_RDONLY);
            (void)syscall(SYS_finit_module, fd, "", 0);
            (void)close(fd);
        }
        if (list != NULL)
            (void)closedir(list);
    }
}

int main(void)
{
    const char *guest = getenv("GUEST");

    load_modules();
    must(mkdir("/low", 0755) | mkdir("/t", 0755) | mkdir("/new", 0755), "mkdir");
    must(mount("root", "/low", "9p", MS_RDONLY,
               "trans=virtio,version=9p2000.L,msize=512000,cache=loose"),
         "mount the files of the machine");
    must(mount("none", "/t", "tmpfs", 0, "mode=755"), "mount tmpfs");
    must(mkdir("/t/upper", 0755) | mkdir("/t/work", 0755), "mkdir");
    must(mount("none", "/new", "overlay", 0,
               "lowerdir=/low,upperdir=/t/upper,workdir=/t/work"),
         "mount the overlay");
    must(chdir("/new"), "chdir");
    must(mount("none", "dev", "devtmpfs", 0, NULL), "mount /dev");
    must(mount("none", "proc", "proc", 0, NULL), "mount /proc");
    must(mount("none", "sys", "sysfs", 0, NULL), "mount /sys");
    must(mount("none", "run", "tmpfs", 0, NULL), "mount /run");
    must(mount(".", "/", NULL, MS_MOVE, NULL), "move the root");
    must(chroot(".") | chdir("/"), "chroot");
    if (guest != NULL)
        (void)execl(guest, guest, (char *)NULL);
    perror("the guest");
    return 1;
}
