#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/local_cluster.hpp"

namespace plim::cli {

Outcome<int> run_down(Context& context) {
  PLIM_CLI_TRY(local::cluster::ClusterDirectories directories, directories_of(context));
  PLIM_CLI_TRY(bool stopped, stop_cluster(directories, context.values.duration("timeout")));
  if (!context.values.boolean("quiet"))
    (void)context.world.err.write(
        fmt::format("cluster {} {}\n", directories.name, stopped ? "stopped" : "is not running"));
  return 0;
}

}  // namespace plim::cli
