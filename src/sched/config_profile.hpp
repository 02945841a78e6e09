// A profile of the file: which plugins run where, and with which arguments.
#pragma once

#include <optional>

#include "sched/config.hpp"
#include "sched/config_fields.hpp"

namespace plim::sched {

enum class FileVersion { v1beta1, v1beta2, v1beta3, v1 };

// Reads everything except its name and percentage. `mode` takes precedence over the file.
void read_profile(Fields& fields, FileVersion version, std::optional<LocalityMode> mode,
                  ProfileConfig& out);

}  // namespace plim::sched
