#include "cluster/cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

#include "api/nats.h"
#include "base/log.h"
#include "headwater/version.h"

static const hw__bus_stream streams[] = {
    {.name = "KV_hw_conf", .subjects = "$KV.hw_conf.>", .bucket = true},
    {.name = "KV_hw_lease", .subjects = "$KV.hw_lease.>", .bucket = true},
    {.name = "KV_hw_snap", .subjects = "$KV.hw_snap.>", .bucket = true},
    {.name = "KV_hw_state", .subjects = "$KV.hw_state.>", .bucket = true},
    {.name = "HW_IN", .subjects = "hw.in.>"},
    {.name = "HW_OUT", .subjects = "hw.out.>"},
    {.name = "HW_SNAP", .subjects = "hw.snap.>", .latest = true},
};

/* The first program of the cluster writes it down; all others read it. */
static hw__bus_status agree(hw__bus *bus, size_t partitions, int64_t *id, size_t *agreed) {
  char text[64];
  int64_t revision = 0;
  hw__bus_status status = hw__bus_get(bus, "hw_conf", "cluster", text, sizeof text, &revision);
  if (status == HW_BUS_ABSENT) {
    uint64_t chance = 0;
    if (getrandom(&chance, sizeof chance, 0) != (ssize_t)sizeof chance) {
      return HW_BUS_AWAY;
    }
    snprintf(text, sizeof text, "%" PRIu64 " %zu", chance >> 1,
             partitions ? partitions : (size_t)HW_DEFAULT_PARTITIONS);
    status = hw__bus_set(bus, "hw_conf", "cluster", text, 0, &revision);
    if (status != HW_BUS_AWAY) {
      status = hw__bus_get(bus, "hw_conf", "cluster", text, sizeof text, &revision);
    }
  }
  if (status == HW_BUS_OK &&
      (sscanf(text, "%" SCNd64 " %zu", id, agreed) != 2 || *agreed < 1 || *agreed > HW_CLUSTER_MOST_PARTITIONS)) {
    hw__log(HW_LOG_ERROR, "cluster_key_not_readable", "value", text);
    return HW_BUS_AWAY;
  }
  return status;
}

/* Which engine processes the cluster. The first version did not write it down, so a log without an entry belongs to
 * it. */
static hw__bus_status read_engine(hw__bus *bus, int64_t *engine, int64_t *revision) {
  char text[32];
  int64_t last = 0;
  hw__bus_status status = hw__bus_get(bus, "hw_conf", "engine", text, sizeof text, revision);
  if (status == HW_BUS_ABSENT) {
    *revision = 0;
    status = hw__bus_last(bus, "HW_IN", &last);
    *engine = last > 0 ? 1 : 0;
  } else if (status == HW_BUS_OK && sscanf(text, "%" SCNd64, engine) != 1) {
    hw__log(HW_LOG_ERROR, "cluster_key_not_readable", "value", text);
    return HW_BUS_AWAY;
  }
  return status;
}

hw__bus_status hw__cluster_take_over(hw__cluster *cluster) {
  char text[32];
  int64_t engine = 0, revision = 0;
  hw__bus_status status = read_engine(cluster->bus, &engine, &revision);
  if (status == HW_BUS_OK && engine < HW_ENGINE) {
    snprintf(text, sizeof text, "%d", HW_ENGINE);
    status = hw__bus_set(cluster->bus, "hw_conf", "engine", text, revision, &revision);
  }
  return status;
}

static hw_status agree_on_engine(hw__cluster *cluster, hw_error *error) {
  int64_t revision = 0;
  hw__bus_status status = read_engine(cluster->bus, &cluster->engine, &revision);
  if (status == HW_BUS_OK && cluster->engine == 0) { /* nothing was ever processed here */
    status = hw__cluster_take_over(cluster);
    if (status != HW_BUS_AWAY) {
      status = read_engine(cluster->bus, &cluster->engine, &revision);
    }
  }
  if (status != HW_BUS_OK) {
    snprintf(error->text, sizeof error->text, "the cluster does not answer");
    return HW_EIO;
  }
  if (cluster->engine == HW_ENGINE) {
    return HW_OK;
  }
  const bool newer = cluster->engine > HW_ENGINE;
  snprintf(error->text, sizeof error->text, "the cluster runs engine %" PRId64 ", this program has engine %d: %s",
           cluster->engine, HW_ENGINE,
           newer ? "expected the same, use a newer headwater" : "waiting for a worker of this engine to take over");
  return newer ? HW_EINPUT : HW_EIO;
}

hw_status hw__cluster_join(hw__cluster *cluster, const hw__cluster_options *options, hw_error *error) {
  if (options->partitions > HW_CLUSTER_MOST_PARTITIONS) { /* written down it would lock everybody out */
    snprintf(error->text, sizeof error->text, "--partitions %zu: expected at most %d", options->partitions,
             HW_CLUSTER_MOST_PARTITIONS);
    return HW_EDOMAIN;
  }
  hw__bus_status status = hw__bus_connected(cluster->bus) ? HW_BUS_OK : HW_BUS_AWAY;
  for (size_t i = 0; i < sizeof streams / sizeof streams[0] && status == HW_BUS_OK; i++) {
    hw__bus_stream stream = streams[i];
    stream.replicas = options->replicas;
    stream.keep_s = stream.bucket || stream.latest ? 0 : options->retention_days * 86400;
    status = hw__bus_make(cluster->bus, &stream);
  }
  int64_t id = 0;
  size_t partitions = 0;
  if (status == HW_BUS_OK) {
    status = agree(cluster->bus, options->partitions, &id, &partitions);
  }
  if (status != HW_BUS_OK) {
    snprintf(error->text, sizeof error->text, "the cluster does not answer");
    return HW_EIO;
  }
  if (options->partitions && options->partitions != partitions) {
    snprintf(error->text, sizeof error->text, "--partitions %zu: the cluster was made with %zu, expected the same",
             options->partitions, partitions);
    return HW_EDOMAIN;
  }
  const hw_status agreed = agree_on_engine(cluster, error);
  if (agreed != HW_OK) {
    return agreed;
  }
  if (hw__bus_may_fork(cluster->bus, "HW_IN")) {
    hw__log(HW_LOG_WARNING, "nats_too_old", "consequence",
            "a node that is cut off and comes back may keep other readings than the rest: use nats-server 2.10.27 or "
            "newer");
  }
  cluster->id = id;
  cluster->partitions = partitions;
  return HW_OK;
}
