// The test program is also the shim and the tools: started with these arguments it does not run
// the tests.
#include <cstdlib>
#include <string_view>

#include "local/kubelet/runtime/applets.hpp"
#include "local/kubelet/shim/shim.hpp"

namespace {

__attribute__((constructor)) void become_shim(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "pod-shim")
    std::_Exit(plim::local::kubelet::run_pod_shim(argc - 1, argv + 1));
  if (argc > 1 && std::string_view(argv[1]) == "tools")
    std::_Exit(plim::local::kubelet::run_applet(argc - 1, argv + 1));
}

}  // namespace
