// Modules are numbered in their order, not by where they lie: the same sources give the same files
// in every folder.
module.exports = { optimization: { moduleIds: 'natural', chunkIds: 'natural' } };
