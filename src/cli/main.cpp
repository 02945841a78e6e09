#include <string>
#include <unistd.h>
#include <vector>

#include "base/process.hpp"
#include "cli/run.hpp"
#include "cli/terminal.hpp"

int main(int argc, char** argv) {
  using namespace plim;
  cli::guard_standard_streams();
  prepare_process();
  cli::Writer out(STDOUT_FILENO), err(STDERR_FILENO);
  cli::World world{kube::process_environment, out, err, cli::terminal_of(STDOUT_FILENO)};
  return cli::run(world, std::vector<std::string>(argv, argv + argc));
}
