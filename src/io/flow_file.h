#ifndef HW_IO_FLOW_FILE_H
#define HW_IO_FLOW_FILE_H

#include "headwater/io.h"

/* Reads the river's flow_file into its flow. Status: HW_EINPUT, HW_EIO, HW_ENOMEM, with *error filled */
hw_status hw__flow_load(hw_river *river, hw_warn warn, void *context, hw_error *error);

#endif
