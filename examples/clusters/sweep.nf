// A sweep in Nextflow: each process is one row of the grid. Not run: Nextflow's package of PyPI has a launcher only, and
// the engine comes from elsewhere.
//
//     nextflow run examples/clusters/sweep.nf --arguments '--set stations=2..64*2 --seeds 20 --duration 10s' --out "$PWD/runs/"
params.arguments = '--set stations=2..8*2 --seeds 2 --duration 1s'
params.out = "${launchDir}/runs/"

process LIST {
    output: path 'rows.csv'
    script: "ethbus sweep ${params.arguments} --list > rows.csv"
}

process ROW {
    input: val run
    script: "ethbus sweep ${params.arguments} --jobs 1 --row ${run} --out ${params.out}"
}

workflow {
    ROW(LIST().splitCsv(header: true).map { row -> row.run })
}
