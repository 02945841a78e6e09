// How each component of a configuration file reads its options. For config*.cpp only.
#pragma once

#include <string>

#include "agent/config_reader.hpp"

namespace plim::agent {

void read_measurement(Options& options, MeasureConfig& out);
// The storage below `key`; the default one when it is not given.
StorageConfig read_storage(Options& options, const std::string& key);
// Detectors and allocators: only checks their options.
void read_decider_options(Options& options, const std::string& tag);

}  // namespace plim::agent
