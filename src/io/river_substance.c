/* `substance:` a name of the table, or a mapping that may begin with one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "io/river_yaml.h"
#include "river/substance.h"

static hw_status take_doubtful(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  static const hw__yaml_field fields[] = {
      {"median", hw__yaml_take_positive, offsetof(hw_doubtful, median), true},
      {"factor", hw__yaml_take_factor, offsetof(hw_doubtful, factor), true},
  };
  hw_doubtful number = {0, 1};
  char found[80];
  if (node->type == YAML_MAPPING_NODE) {
    const hw_status status = hw__yaml_mapping(yaml, node, what, FIELDS(fields), &number);
    if (status != HW_OK) {
      return status;
    }
  } else if (!hw__yaml_number(node, &number.median) || !(number.median >= 0)) {
    return hw__yaml_fail(yaml, node, "%s is %s, expected a number of 0 or more or {median: M, factor: F}", what,
                         hw__yaml_found(node, found));
  }
  *(hw_doubtful *)target = number;
  return HW_OK;
}

static hw_status take_retardation(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  const hw_status status = take_doubtful(yaml, node, what, target);
  const double median = ((const hw_doubtful *)target)->median;
  if (status == HW_OK && !(median >= 1)) {
    return hw__yaml_fail(yaml, node, "%s is %g, expected 1 (as fast as the water) or more", what, median);
  }
  return status;
}

static hw_status complain_of_name(hw__yaml *yaml, const yaml_node_t *node) {
  char known[200] = "", found[80];
  size_t length = 0;
  for (size_t i = 0; hw_substance_at(i) && length < sizeof known; i++) {
    length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", i ? ", " : "", hw_substance_at(i)->name);
  }
  return hw__yaml_fail(yaml, node, "substance is %s, expected one of %s, or a mapping with a name of your own",
                       hw__yaml_found(node, found), known);
}

hw_status hw__river_take_substance(hw__yaml *yaml, const yaml_node_t *node, const char *what, void *target) {
  static const hw__yaml_field fields[] = {
      {"name", hw__yaml_take_id, offsetof(hw_substance, name), true},
      {"decay_per_s", take_doubtful, offsetof(hw_substance, decay_per_s), false},
      {"volatilisation_m_s", take_doubtful, offsetof(hw_substance, volatilisation_m_s), false},
      {"retardation", take_retardation, offsetof(hw_substance, retardation), false},
  };
  const bool mapping = node->type == YAML_MAPPING_NODE;
  const yaml_node_t *name = mapping ? hw__yaml_value(yaml, node, "name") : node;
  const hw_substance *known =
      name && name->type == YAML_SCALAR_NODE ? hw_substance_find((const char *)name->data.scalar.value) : NULL;
  if (!mapping && !known) {
    return complain_of_name(yaml, node);
  }
  hw_substance substance = known ? *known : hw_substance_none();
  if (mapping) {
    const hw_status status = hw__yaml_mapping(yaml, node, what, FIELDS(fields), &substance);
    if (status != HW_OK) {
      return status;
    }
  }
  *(hw_substance *)target = substance;
  return HW_OK;
}

static const yaml_node_t *decay_in(const hw__yaml *yaml, const yaml_node_t *list) {
  const yaml_node_t *found = NULL;
  for (size_t i = 0; list && list->type == YAML_SEQUENCE_NODE && !found &&
                     list->data.sequence.items.start + i < list->data.sequence.items.top;
       i++) {
    const yaml_node_t *item = hw__yaml_node(yaml, list->data.sequence.items.start[i]);
    const yaml_node_t *reaches = hw__yaml_value(yaml, item, "reaches");
    found = reaches ? decay_in(yaml, reaches) : hw__yaml_value(yaml, item, "decay_per_s");
  }
  return found;
}

/* Where a river's own numbers speak of decay beside the substance. */
static const yaml_node_t *second_decay(const hw__yaml *yaml, const yaml_node_t *root) {
  const yaml_node_t *own = hw__yaml_value(yaml, hw__yaml_value(yaml, root, "hydraulics"), "decay_per_s");
  const yaml_node_t *reach = own ? own : decay_in(yaml, hw__yaml_value(yaml, root, "reaches"));
  return reach ? reach : decay_in(yaml, hw__yaml_value(yaml, root, "branches"));
}

hw_status hw__river_settle_substance(hw__yaml *yaml, const yaml_node_t *root, hw_river *river) {
  const yaml_node_t *node = hw__yaml_value(yaml, root, "substance");
  const yaml_node_t *decay = node ? second_decay(yaml, root) : NULL;
  if (!node) {
    return HW_OK;
  }
  if (decay) {
    return hw__yaml_fail(yaml, decay, "decay_per_s beside a substance, expected the decay under substance alone");
  }
  bool depth_known = true;
  if (hw__substance_apply(river, &depth_known) != HW_OK) {
    return hw__fail(yaml->error, HW_ENOMEM, "%s: %s", yaml->name, hw_status_text(HW_ENOMEM));
  }
  const hw_substance *s = &river->substance;
  if (!depth_known) {
    hw__yaml_warn(yaml, node,
                  "%s volatilises, but neither depth_m of a sensor nor a discharge tells how deep the river is: taken "
                  "not to",
                  s->name);
  }
  for (size_t i = 0; i < river->intake_count; i++) {
    hw_intake *k = &river->intakes[i];
    if (!(k->alarm_g_m3 > 0) && s->guideline_g_m3 > 0) {
      k->alarm_g_m3 = s->guideline_g_m3;
      const yaml_node_t *list = hw__yaml_value(yaml, root, "intakes");
      hw__yaml_warn(yaml, hw__yaml_node(yaml, list->data.sequence.items.start[i]),
                    "no alarm_g_m3 for %s, so taken: %g g/m3, the guideline for %s (%s)", k->id, k->alarm_g_m3, s->name,
                    s->guideline);
    }
  }
  return HW_OK;
}
