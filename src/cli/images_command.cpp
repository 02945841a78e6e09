#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/local_cluster.hpp"
#include "roles/local_roles.hpp"

namespace plim::cli {
namespace {

Outcome<int> change(Context& context, std::string_view verb, std::string_view done) {
  PLIM_CLI_TRY(local::cluster::ClusterDirectories directories, directories_of(context));
  // Load into the cluster of the kubeconfig: `plimsoll images` lists that cluster too.
  if (!context.values.given("name") && !context.values.given("dir"))
    directories = roles::cluster_of_kubeconfig(context.values.text("kubeconfig"), context.world.env)
                      .value_or(std::move(directories));
  json::array nodes;
  if (const std::string& node = context.values.text("node"); !node.empty())
    nodes.emplace_back(node);
  json::value body = json::object{{"image", context.arguments[0]}, {"nodes", std::move(nodes)}};
  PLIM_CLI_TRY(json::value answer,
               ask_cluster(directories, fmt::format("/v1/images/{}", verb), std::move(body),
                           context.values.duration("timeout")));
  for (const json::value& name : list_at(answer, {"nodes"}))
    if (name.is_string())
      PLIM_CLI_CHECK(
          context.world.out.write(fmt::format("image {} {} node/{}\n", text_at(answer, {"image"}),
                                              done, std::string_view(name.get_string()))));
  return 0;
}

}  // namespace

Outcome<int> run_images_load(Context& context) {
  return change(context, "load", "loaded on");
}

Outcome<int> run_images_rm(Context& context) {
  return change(context, "rm", "removed from");
}

Outcome<int> run_images_pull(Context& context) {
  return change(context, "pull", "pulled to");
}

}  // namespace plim::cli
