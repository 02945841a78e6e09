#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "base/process.hpp"
#include "cli/crictl/crictl.hpp"
#include "cli/run.hpp"
#include "cli/writer.hpp"
#include "flow/worker.hpp"
#include "local/kubelet/runtime/applets.hpp"
#include "local/kubelet/shim/shim.hpp"
#include "roles/role_children.hpp"

int main(int argc, char** argv) {
  using namespace plim;
  cli::guard_standard_streams();
  prepare_process();
  roles::end_with_parent();
  // Internal commands that our nodes and runs start once per pod, container or worker. They are not
  // in the table, and the parser does not see their arguments.
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word == "pod-shim") return local::kubelet::run_pod_shim(argc - 1, argv + 1);
  if (word == "flow-worker") return flow::run_worker_process(system_clock());
  if (word == "tools") return local::kubelet::run_applet(argc - 1, argv + 1);
  cli::Writer out(STDOUT_FILENO), err(STDERR_FILENO);
  cli::World world{kube::process_environment, out, err, cli::terminal_of(STDOUT_FILENO)};
  if (cli::is_crictl(argc > 0 ? argv[0] : ""))
    return cli::run_crictl(world, std::vector<std::string>(argv, argv + argc));
  return cli::run(world, std::vector<std::string>(argv, argv + argc));
}
