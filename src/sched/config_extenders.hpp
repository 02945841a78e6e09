// `extenders` of the file: HTTP services that take part in decisions in addition to the plugins.
#pragma once

#include <vector>

#include "sched/config.hpp"
#include "sched/config_fields.hpp"

namespace plim::sched {

std::vector<ExtenderConfig> read_extenders(Fields& root);
json::array write_extenders(const std::vector<ExtenderConfig>& extenders);

}  // namespace plim::sched
