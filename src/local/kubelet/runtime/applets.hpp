// Small programs inside our own binary, so that demos and tests need no external images:
// `plimsoll tools sleep 5`.
#pragma once

#include <string_view>

namespace plim::local::kubelet {

bool is_applet(std::string_view name);
// argv[0] is "tools", argv[1] the applet. Returns 2 for wrong usage.
int run_applet(int argc, char** argv);

}  // namespace plim::local::kubelet
