/* SPDX-License-Identifier: MIT */
/* record_file - see cli.h. */
#include "cli/cli.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static gbx_status save(gbx_record_file *file, gbx_error *reterr)
{
    size_t len;
    const char *text = gbx_recording_text(file->recording, &len);
    bool is_written;

    if (len == 0) {
        (void)unlink(file->path);
        return GBX_OK;
    }
    is_written = gbx_fd_write(file->fd, text, len);
    if (close(gbx_fd_take(&file->fd)) != 0 || !is_written)
        return gbx_fail(reterr, GBX_E_OS, "cannot write '%.200s'", file->path);
    if (!gbx_recording_is_whole(file->recording)) {
        errno = 0;
        return gbx_fail(reterr, GBX_E_OS,
                        "'%.200s' is not whole: the recording grew too large",
                        file->path);
    }
    return GBX_OK;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_record_file_open(gbx_record_file *file, const char *path,
                                bool keeps_input, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close)
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot make '%.200s'", path);
    file->recording = gbx_recording_new(keeps_input ? GBX_RECORD_INPUT : 0);
    if (file->recording == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the recording");
    file->path = path;
    file->fd = gbx_fd_take(&fd);
    return GBX_OK;
}

gbx_status gbx_record_file_close(gbx_record_file *file, gbx_error *reterr)
{
    gbx_status status = GBX_OK;

    if (file->recording == NULL)
        return GBX_OK;
    status = save(file, reterr);
    gbx_fd_close(&file->fd);
    gbx_recording_free(file->recording);
    *file = (gbx_record_file){.fd = -1};
    return status;
}
