// Small programs inside our own binary, so that demos and tests need no images from elsewhere:
// `plimsoll tools sleep 5`.
#pragma once

#include <string_view>

namespace plim::local::kubelet {

bool is_applet(std::string_view name);
// argv[0] is "tools", argv[1] the applet. 2: usage.
int run_applet(int argc, char** argv);

}  // namespace plim::local::kubelet
