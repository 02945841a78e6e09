// The messages of a container runtime about its images: CRI v1, and the content store of
// containerd.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace plim::images {

struct RuntimeVersion {
  std::string name, version;
};

struct HeldImage {
  std::string id;
  std::vector<std::string> tags, digests;  // names as the runtime writes them
  std::int64_t size = 0;
  bool pinned = false;
};

struct FilesystemUsage {
  std::string mountpoint;
  std::int64_t used = 0;
};

// A piece of content. Manifests have labels that name their configuration and layers.
struct Blob {
  std::string digest;
  std::int64_t size = 0;
  std::string config = {};               // only of a manifest
  std::vector<std::string> layers = {};  // in order; empty if the runtime discards layers
};

// Content that is being written: part of a pull.
struct Ingest {
  std::string ref;
  std::int64_t offset = 0, total = 0;
  WallTime started{}, updated{};
};

Result<RuntimeVersion> decode_version(const std::string& bytes);
Result<std::vector<HeldImage>> decode_images(const std::string& bytes);
Result<std::vector<FilesystemUsage>> decode_filesystems(const std::string& bytes);
Result<std::vector<Blob>> decode_content(const std::string& bytes);
Result<std::vector<Ingest>> decode_ingests(const std::string& bytes);
std::string encode_read_request(const std::string& digest);
Result<std::string> decode_read_piece(const std::string& bytes);
// A subscription to changes of images; each message that follows is one change.
std::string encode_image_events_request();
std::string encode_verbose_status_request(const std::string& image);
// The additional JSON of a verbose response; "" if there is none.
Result<std::string> decode_verbose_info(const std::string& bytes);

// The other side, for tests with a fake runtime.
std::string encode_version(const RuntimeVersion& version);
std::string encode_images(const std::vector<HeldImage>& images);
std::string encode_filesystems(const std::vector<FilesystemUsage>& filesystems);
std::string encode_content(const std::vector<Blob>& blobs);
std::string encode_ingests(const std::vector<Ingest>& ingests);
Result<std::string> decode_read_request(const std::string& bytes);
std::string encode_read_piece(const std::string& data);
std::string encode_verbose_info(const std::string& info);

}  // namespace plim::images
