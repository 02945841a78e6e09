// A container runtime, asked over its socket. Belongs to one loop.
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

// The sockets of the runtimes we know, tried in this order below `host_root`; the first that
// exists, or the first of all when none does yet.
std::string find_runtime_socket(const std::string& host_root);

// Connects when first asked and again after the runtime was restarted; while nobody listens, every
// question fails with Code::unavailable.
class Runtime {
 public:
  Runtime(const Executor& loop, std::string socket);

  Task<Result<RuntimeVersion>> version();
  Task<Result<std::vector<HeldImage>>> images();
  Task<Result<std::vector<FilesystemUsage>>> filesystems();

  // containerd's content store; Code::unimplemented where another runtime answers.
  Task<Result<std::vector<Blob>>> content();
  Task<Result<std::vector<Ingest>>> ingests();
  // The layers that a manifest in the content store names, with their sizes.
  Task<Result<std::vector<loop::ImageInventory::Layer>>> layers_of_manifest(std::string digest);
  // Diff ids of an image's layers; any runtime that tells the image's configuration has them.
  Task<Result<std::vector<std::string>>> diff_ids(std::string image);

  const std::string& socket() const { return socket_; }

 private:
  Task<Result<std::string>> ask(std::string method, std::string request);

  std::string socket_;
  std::shared_ptr<net::Channel> channel_;
};

// For tests as well: what the JSON of a manifest and of a verbose image status tells.
Result<std::vector<loop::ImageInventory::Layer>> parse_manifest(std::string_view text);
Result<std::vector<std::string>> parse_diff_ids(std::string_view info);

}  // namespace plim::images
