#include <fmt/format.h>

#include "base/yaml.hpp"
#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/run.hpp"
#include "loop/application_id.hpp"

namespace plim::cli {

// Exit 0 with the id, 1 if the pod has none, 2 if the path or the pod is unusable.
Outcome<int> run_servo_path_test(Context& context) {
  const std::string& text = context.values.text("path");
  auto path = loop::AppIdPath::parse(text);
  if (!path)
    return usage_failure(Plm::bad_flag_value, fmt::format("--path: {}", path.error().message),
                         text);
  const std::string& file = context.values.text("file");
  if (file.empty())
    return usage_failure(Plm::wrong_arguments, "a pod is missing",
                         "pass -f FILE, or -f - for stdin");
  auto bytes = read_input(file);
  if (!bytes) {
    Failure failure = file_failure(Plm::cannot_read, bytes.error());
    failure.exit = 2;
    return tl::unexpected(std::move(failure));
  }
  auto pod = parse_yaml(*bytes, file);
  if (!pod) return usage_failure(Plm::wrong_arguments, pod.error().message);
  loop::AppIdLookup found = path->find(*pod);
  if (!found.found()) {
    PLIM_CLI_CHECK(context.world.err.write(
        fmt::format("no application id ({}): {}\n", name_of(found.miss), found.why)));
    return 1;
  }
  PLIM_CLI_CHECK(context.world.out.write(found.id + "\n"));
  return 0;
}

}  // namespace plim::cli
