#include "roles/images_module.hpp"

#include <utility>

#include "base/log.hpp"
#include "base/metrics.hpp"

namespace plim::roles {
namespace {

// Allows one process per node; the error names the pid of the other one. Without the directory
// there is no lock: a pod with nothing but the socket does not share it with other processes.
Outcome<std::optional<FileLock>> lock_images(const std::string& directory) {
  if (!make_directories(directory)) return std::nullopt;
  auto taken = FileLock::acquire(directory + "/images.lock");
  if (taken) return std::move(*taken);
  if (taken.error().code != Code::already_exists) return std::nullopt;
  Failure out = daemon_failure(
      Plm::bad_agent_config,
      taken.error().with_context("another process already manages the images of this node"));
  out.next = "stop the other process first";
  return tl::unexpected(std::move(out));
}

}  // namespace

Outcome<std::unique_ptr<ImagesModule>> ImagesModule::make(ImagesSettings settings) {
  if (settings.places.empty()) log::info("images", "dry run: the agent publishes nothing");
  auto locked = lock_images(settings.run_dir);
  if (!locked) return tl::unexpected(std::move(locked).error());
  std::unique_ptr<ImagesModule> out(new ImagesModule(std::move(settings)));
  out->lock_ = std::move(*locked);
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
