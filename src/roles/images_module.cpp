#include "roles/images_module.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/metrics.hpp"

namespace plim::roles {
namespace {

constexpr std::string_view name_of(ImagePlace place) {
  return place == ImagePlace::crd ? "crd" : place == ImagePlace::annotation ? "annotation" : "etcd";
}

// Allows one process per node and place; the error names the pid of the other one. The nodes of a
// local cluster may share the directory. Without the directory there is no lock: a pod with nothing
// but the socket does not share it with other processes.
Outcome<std::vector<FileLock>> lock_images(const ImagesSettings& settings) {
  std::vector<FileLock> out;
  if (!make_directories(settings.run_dir)) return out;
  for (const ImagePlace place : settings.places) {
    auto taken = FileLock::acquire(fmt::format("{}/images-{}-{}.lock", settings.run_dir,
                                               settings.daemon.node_name, name_of(place)));
    if (taken) {
      out.push_back(std::move(*taken));
    } else if (taken.error().code == Code::already_exists) {
      Failure failure = daemon_failure(
          Plm::bad_agent_config,
          taken.error().with_context(fmt::format("another process already publishes the images of "
                                                 "node {} (--publish {})",
                                                 settings.daemon.node_name, name_of(place))));
      failure.next = "stop the other process first";
      return tl::unexpected(std::move(failure));
    }
  }
  return out;
}

}  // namespace

Outcome<std::unique_ptr<ImagesModule>> ImagesModule::make(ImagesSettings settings) {
  if (settings.places.empty()) log::info("images", "dry run: the agent publishes nothing");
  auto locked = lock_images(settings);
  if (!locked) return tl::unexpected(std::move(locked).error());
  std::unique_ptr<ImagesModule> out(new ImagesModule(std::move(settings)));
  out->locks_ = std::move(*locked);
  return out;
}

Result<std::vector<std::unique_ptr<images::Publisher>>> ImagesModule::publishers(
    const Executor& loop) const {
  std::vector<std::unique_ptr<images::Publisher>> out;
  std::shared_ptr<kube::Client> client;
  if (settings_.cluster) {
    PLIM_TRY(client, kube::Client::create(loop, *settings_.cluster));
  }
  const std::string& node = settings_.daemon.node_name;
  for (const ImagePlace place : settings_.places) {
    if (place == ImagePlace::crd) {
      out.push_back(images::publish_to_resource(client, node));
    } else if (place == ImagePlace::annotation) {
      out.push_back(images::publish_to_annotation(client, node));
    } else {
      PLIM_TRY(auto etcd, kube::EtcdClient::create(loop, settings_.etcd));
      out.push_back(images::publish_to_etcd(std::move(etcd), settings_.etcd_place));
    }
  }
  return out;
}

Task<Result<void>> ImagesModule::start(ModuleHost host) {
  PLIM_CO_TRY(auto made, publishers(host.loop));
  daemon_ = std::make_unique<images::Daemon>(host.loop, settings_.daemon, std::move(made),
                                             metrics::default_registry(), system_clock());
  daemon_->start();
  co_return Result<void>();
}

Task<void> ImagesModule::stop() {
  if (daemon_) co_await daemon_->stop();
  daemon_.reset();
}

std::string ImagesModule::not_ready() const {
  return daemon_ ? daemon_->not_ready() : "images: not started";
}

json::value ImagesModule::state() const {
  if (!daemon_) return json::object{{"images", nullptr}};
  return daemon_->state();
}

}  // namespace plim::roles
