// A client of a container runtime, using its socket. Belongs to one loop.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/task.hpp"
#include "images/messages.hpp"
#include "loop/image_inventory.hpp"
#include "net/rpc.hpp"

namespace plim::images {

// Tries the sockets of known runtimes in this order below `host_root`. Returns the first that
// exists, or the first of all if none does yet.
std::string find_runtime_socket(const std::string& host_root);

// Connects at the first request and again after a restart of the runtime. While no runtime listens,
// every request fails with Code::unavailable.
class Runtime {
 public:
  Runtime(const Executor& loop, std::string socket);

  Task<Result<RuntimeVersion>> version();
  Task<Result<std::vector<HeldImage>>> images();
  Task<Result<std::vector<FilesystemUsage>>> filesystems();

  // containerd's content store; Code::unimplemented for other runtimes.
  Task<Result<std::vector<Blob>>> content();
  Task<Result<std::vector<Ingest>>> ingests();
  // The layers in a manifest of the content store, with their sizes.
  Task<Result<std::vector<loop::ImageInventory::Layer>>> layers_of_manifest(std::string digest);
  // Diff IDs of an image's layers; every runtime that reports the configuration of images has them.
  Task<Result<std::vector<std::string>>> diff_ids(std::string image);

  // Changes of images, as containerd reports them: next() returns true for each. The status of the
  // reader is unimplemented for other runtimes.
  Task<std::unique_ptr<net::RpcReader>> image_events();

  const std::string& socket() const { return socket_; }

 private:
  Task<Result<std::string>> ask(std::string method, std::string request);

  std::string socket_;
  std::shared_ptr<net::Channel> channel_;
};

// Also for tests: parse the JSON of a manifest and of a verbose image status.
Result<std::vector<loop::ImageInventory::Layer>> parse_manifest(std::string_view text);
Result<std::vector<std::string>> parse_diff_ids(std::string_view info);

}  // namespace plim::images
