// The messages that go to the receiver, as JSON text.
#pragma once

#include <string>
#include <string_view>

#include "loop/run_record.hpp"

namespace plim::servo {

enum class Extra { none, more };  // metrics beyond those of the original servo

// {"event":"MEASUREMENT","param":{…}}
std::string measurement(const loop::RunRecord& run, Extra extra);
// {"event":"HELLO","param":{"account":…}}
std::string hello(std::string_view account);
std::string goodbye(std::string_view account, std::string_view reason);

}  // namespace plim::servo
